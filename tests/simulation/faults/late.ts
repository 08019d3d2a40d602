/** A scheduler that is late, as on an overloaded deployment: scheduled functions start minutes after their time. */
import type { Core } from "../../../local/backend.js";
import { COMPONENT } from "../deployment.js";
import { Draw } from "../draw.js";
import type { Commit, Part } from "../part.js";
import type { Simulation } from "../simulation.js";
import { kept, running } from "../moments.js";
import { move, SCHEDULED_TABLE } from "./scheduled.js";

interface Lateness {
  watcher: ((commit: Commit) => void) | null;
  /** The delayed functions. */
  late: Set<string>;
}

const stateOf = kept((): Lateness => ({ watcher: null, late: new Set() }));

export const late: Part = {
  name: "late",
  about: "scheduled functions of the component start up to minutes after their time, out of order",
  chance: 0.2,
  plan(draw, plan) {
    return [
      {
        at: draw.between(0, plan.faultsMs * 0.6),
        do: "late.begin",
        seed: draw.below(1e9),
        probability: draw.pick([0.1, 0.3, 0.7]),
        maxMs: draw.pick([300, 5_000, 180_000]),
      },
    ];
  },
  perform: {
    begin(simulation, { seed, probability, maxMs }) {
      const draw = new Draw(seed, "late");
      const state = stateOf(simulation);
      const fresh: string[] = [];
      const heard = new WeakSet<Core>();
      const postpone = () => {
        for (const id of fresh.splice(0)) {
          const ms = draw.next() * maxMs;
          void move(simulation, id, ({ due }) => due! + ms).then((isDone) => {
            if (!isDone) return;
            state.late.add(id);
            simulation.happened("a scheduled function is late");
          });
        }
      };
      state.watcher = ({ changes }) => {
        for (const { namespace, table, id, before } of changes) {
          if (namespace !== COMPONENT || table !== SCHEDULED_TABLE || before !== null) continue;
          if (draw.chance(probability)) fresh.push(id);
        }
        const backend = running(simulation);
        if (fresh.length === 0 || backend === null || heard.has(backend)) return;
        heard.add(backend);
        backend.database.onPublish(postpone);
      };
      simulation.watchers.add(state.watcher);
    },
  },
  async heal(simulation) {
    const { watcher, late: ids } = stateOf(simulation);
    if (watcher !== null) simulation.watchers.delete(watcher);
    await inTime(simulation, ids);
  },
  marks: ["a scheduled function is late"],
};

/** Functions that are still delayed are due now. */
async function inTime(simulation: Simulation, ids: ReadonlySet<string>): Promise<void> {
  const { world } = simulation;
  for (const id of ids) {
    await world.run(move(simulation, id, (row) => Math.max(world.now(), row.scheduledTime)));
  }
}
