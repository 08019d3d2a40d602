/** Scheduled functions of the component are canceled by hand: lanes, wakes, sweeps, alarms, plans of callbacks. */
import type { Part } from "../part.js";
import type { Planned } from "../plan.js";
import { atCommit } from "../moments.js";
import type { Change } from "../observed.js";
import { cancelOne, openOnes, SCHEDULED_TABLE } from "./scheduled.js";

export const lostSchedules: Part = {
  name: "lost schedules",
  about: "somebody cancels scheduled functions of the component in the dashboard",
  chance: 0.2,
  plan(draw, plan) {
    return Array.from({ length: draw.pick([1, 2, 4]) }, (): Planned => {
      // Of one kind, or of any.
      const of = draw.pick(["", "", "callbacks", "janitor", "dispatcher", "wake", "laneAction"]);
      return {
        at: draw.between(0, plan.faultsMs),
        do: "lost schedules.cancel",
        of,
        commits: draw.between(1, of === "" ? 8 : 2),
        path: draw.next(),
        which: draw.next(),
      };
    });
  },
  perform: {
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
            simulation.happened(`cancels ${meant!.split(":")[0]!}`);
            simulation.given.trace.add("fault", `canceled ${meant!}`, victim._id);
          });
        });
      };
      const isScheduled = ({ table, after }: Change) =>
        of === "" || (table === SCHEDULED_TABLE && isMeant((after?.["name"] as string) ?? ""));
      atCommit(simulation, commits, then, isScheduled);
    },
  },
  marks: ["laneAction", "wake", "janitor", "dispatcher", "callbacks", "expiries"].map(
    (name) => `cancels ${name}`,
  ),
};
