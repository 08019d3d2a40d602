/** Scheduled functions of the component are canceled by hand: lanes, wakes, sweeps, alarms, plans of callbacks. */
import type { Part } from "../part.js";
import type { Planned } from "../plan.js";
import { atCommit } from "../moments.js";
import type { Change } from "../observed.js";
import { cancelOne, openOnes, SCHEDULED_TABLE } from "./scheduled.js";

const FIRST_N = 5_000;
/** Longer than it takes until a lane is missed; and so long that another is still at it then. */
const OUTLASTS_MS = 31_000;
const AGAIN_MS = 12_000;

export const lostSchedules: Part = {
  name: "lost schedules",
  about: "scheduled functions of the component are canceled in the dashboard",
  chance: 0.2,
  plan(draw, plan) {
    return Array.from({ length: draw.pick([1, 2, 4]) }, (_, i): Planned[] => {
      // Of one kind, or of any.
      const of = draw.pick([
        "",
        "",
        "edges/callbacks",
        "tend/janitor",
        "edges/dispatcher",
        "push/wake",
        "push/laneAction",
      ]);
      const cancel: Planned = {
        at: draw.between(0, plan.faultsMs),
        do: "lost schedules.cancel",
        of,
        commits: draw.between(1, of === "" ? 8 : 2),
        path: draw.next(),
        which: draw.next(),
      };
      if (of !== "push/laneAction" || plan.queues.acted === undefined) return [cancel];
      return [cancel, { at: cancel.at, do: "lost schedules.work", n: FIRST_N + i }];
    }).flat();
  },
  perform: {
    /** The lane that is lost goes on with it while another does it again, and then says so. */
    work(simulation, { n }) {
      const turns = [
        { ms: OUTLASTS_MS, end: "returns" },
        { ms: AGAIN_MS, end: "returns" },
        { ms: 0, end: "returns" },
      ];
      const jobs = [{ payload: { n, turns }, options: { maxResets: 2 } }];
      simulation.ask("enqueue", { queue: "acted", jobs });
    },
    cancel(simulation, { commits, of, path, which }) {
      const isMeant = (name: string) => name.startsWith(of as string);
      const then = () => {
        const open = openOnes(simulation).filter(({ target }) => isMeant(target.path));
        const paths = [...new Set(open.map(({ target }) => target.path))].sort();
        const meant = paths[Math.floor(path * paths.length)];
        const fitting = open.filter(({ target }) => target.path === meant);
        const victim = fitting[Math.floor(which * fitting.length)];
        if (victim === undefined) return;
        // It must be there to be canceled: it is published after this.
        simulation.world.clock.timer(0.01, () => {
          void cancelOne(simulation, victim._id).then((isDone) => {
            if (!isDone) return;
            simulation.happened(`cancels ${/(\w+):/.exec(meant!)![1]!}`);
            simulation.given.trace.add("fault", `canceled ${meant!}`, victim._id);
          });
        });
      };
      const isScheduled = ({ table, after }: Change) =>
        of === "" || (table === SCHEDULED_TABLE && isMeant((after?.["name"] as string) ?? ""));
      atCommit(simulation, commits, then, isScheduled);
    },
  },
  marks: ["laneAction", "wake", "janitor", "dispatcher", "callbacks", "startDeadlines"].map(
    (name) => `cancels ${name}`,
  ),
};
