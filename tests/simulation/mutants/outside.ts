/** Bugs in the worker, and in its requests and answers. */
import { isUndisturbed, mayBeat } from "../checkers/heard.js";
import { ENDS } from "../faults/conflicts.js";
import { isOf, PULLED, type Plan } from "../plan.js";
import type { NewJob } from "../work.js";
import { guard } from "./guards.js";
import { having, type Mutant } from "./mutant.js";

/** Replies of a worker's calls are lost, or its requests repeated. */
function isRepeated({ events }: Plan): boolean {
  return events.some(
    ({ do: what, link, faults }) =>
      what === "network.fault" &&
      link !== "producer" &&
      ["loseReplies", "repeatRequests"].some((fault) => fault in (faults as object)),
  );
}

/** Where replies of a worker's calls are lost, or its requests repeated, and there is output to be sent. */
function repeats(plan: Plan): boolean {
  const talks = plan.events.some(
    ({ do: what, queue, jobs }) =>
      what === "producers.enqueue" &&
      isOf(PULLED, queue) &&
      (jobs as NewJob[]).some(({ payload }) => payload.turns[0]?.talks === true),
  );
  return talks && isRepeated(plan);
}

const planted: readonly Omit<Mutant, "queues">[] = [
  {
    name: "the worker drops the outcome of a call that was refused",
    changes: [
      {
        in: "outbox.ts:Outbox.reject",
        from: "item.alone = true;",
        to: "item.alone = true; this.items = this.items.filter((other) => other !== item);",
      },
    ],
    finds: ["simulation", "blame"],
    where: (plan) => having("conflicts.begin", { of: ENDS })(plan) && mayBeat(plan),
    needs: ["conflicts"],
  },
  {
    name: "a worker goes by the clock on the wall",
    changes: [{ in: "clock.ts:systemClock.now", returns: "Date.now()" }],
    finds: ["blame", "canceled", "leases", "simulation"],
    where: ({ parts, events }) =>
      mayBeat({ parts, events }) &&
      events.some(({ do: what, ms }) => what === "skew.set" && (ms as number) < 0),
    needs: ["skew"],
  },
  {
    name: "the worker of a job that is canceled is not asked to end it",
    changes: guard(
      "a cancel of a running job, a beat of its worker, and that worker's subscription",
      "the row that asks the worker",
    ),
    finds: ["canceled"],
    where: (plan) => plan.parts.includes("cancels") && isUndisturbed(plan),
  },
  {
    name: "a call that is repeated brings none of the jobs that it has claimed",
    changes: [
      { in: "claim.ts:claim", call: "leasedBefore", gives: "[]" },
      { in: "complete.ts:complete", call: "leasedBefore", gives: "[]" },
    ],
    finds: ["simulation", "blame", "leases", "begun"],
    where: isRepeated,
    needs: ["network"],
  },
  {
    name: "output that was not answered for is sent once more under new numbers",
    shownBy: "tests/planted/shown.long.test.ts",
    changes: [{ in: "chunks.ts:addOutput", from: "index < nextIndex", to: "false" }],
    finds: ["reports"],
    where: repeats,
    needs: ["network"],
  },
];

export const OUTSIDE: readonly Mutant[] = [
  ...planted.map((one) => ({ ...one, queues: PULLED })),
  {
    name: "of two mounts the first is called for both",
    changes: [
      {
        in: "conveyor.ts:Conveyor.constructor",
        call: "checkComponent",
        gives: "$it, (this.component = (Conveyor as any).first ??= component)",
      },
    ],
    finds: ["mounts"],
    needs: ["second mount"],
    large: true,
    // Larger plans take long.
    where: ({ jobs, queues }) => jobs === 100 && Object.keys(queues).length <= 10,
  },
];
