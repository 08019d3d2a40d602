/** New jobs and ends are counted later: the count sees a removal, or the removal sees the count. */
import { ARRIVALS_LAG_MS, ARRIVALS_RARE_MS } from "../../../src/shared/index.js";
import { must } from "../../races/world.js";
import { LEASE_MS, mutation, type Line, type Row } from "../line.js";
import { UNVALIDATED, type Pair } from "../pair.js";
import { until } from "./upkeep.js";

/** Longer than it takes until the remaining jobs are counted too. */
const COUNTED_MS = ARRIVALS_RARE_MS + ARRIVALS_LAG_MS;

const deletes = (id: string) => mutation("operate:deleteJob", { id });

async function checkSum(line: Line, field: string, count: number): Promise<void> {
  await line.pass(COUNTED_MS);
  const rows: Row[] = line.rows("periods");
  for (const per of ["minute", "hour", "day"]) {
    const those = rows.filter((row) => row["per"] === per);
    const sum = those.reduce((all, row) => all + ((row[field] as number | undefined) ?? 0), 0);
    must(sum === count, `${sum} of ${count} ${field} are counted`);
  }
}

const arrivalsAndDelete: Pair = {
  of: "the count of new jobs, and a delete of one of them",
  orders: 12,
  async setUp(line) {
    const [one, , gone] = await line.enqueue(3);
    // No job ends here: this delete schedules the count of the remaining jobs.
    await line.do(deletes(gone!));
    await until(line, "arrivals");
    return {
      calls: { delete: deletes(one!) },
      check: async (_, line) => await checkSum(line, "enqueued", 3),
    };
  },
  mutants: [
    {
      without: "the row of a new job that is deleted before it was counted",
      changes: [
        { in: "uncounted.ts:noteDeleted", condition: "counted.arrivals _creationTime", is: true },
      ],
      finds: /of 3 enqueued are counted|^no alarm/,
    },
    {
      without: "leaving deleted jobs out of an old snapshot",
      changes: [{ in: "arrivals.ts:findNewJobs", call: "few.filter", gives: "few" }],
      finds: /4 of 3 enqueued are counted/,
    },
    UNVALIDATED,
  ],
};

const arrivalsAndBoth: Pair = {
  of: "the count of new jobs that goes, an enqueue, and a delete of a job that it counts",
  orders: 252,
  async setUp(line) {
    const [one, gone] = await line.enqueue(2);
    await line.do(deletes(gone!));
    await until(line, "arrivals");
    return {
      calls: { delete: deletes(one!), enqueue: line.enqueues() },
      async check(_, line) {
        // Jobs that never began need no count of their own; the next end of a job counts them.
        await line.do(line.cancels(await line.enqueueOne({})));
        await checkSum(line, "enqueued", 4);
      },
    };
  },
  mutants: [UNVALIDATED],
};

const rollUpAndRetry: Pair = {
  of: "the roll-up, and a retry of a job that it counts",
  orders: 45,
  async setUp(line) {
    const id = await line.enqueueOne({});
    await line.do(line.cancels(id));
    await until(line, "rollUp");
    return {
      calls: { retry: line.retries(id) },
      check: async (_, line) => await checkSum(line, "canceled", 1),
    };
  },
  mutants: [
    {
      without: "the row of an end that a retry takes away",
      changes: [{ in: "retry.ts:retryJob", without: "noteEndGone" }],
      finds: /0 of 1 canceled are counted/,
    },
    {
      without: "leaving removed ends out of an old snapshot",
      changes: [{ in: "rollUp.ts:findEnds", call: "has", gives: "false" }],
      finds: /2 of 1 canceled are counted/,
    },
    {
      without: "the real read of how far ends have been counted",
      changes: [{ in: "uncounted.ts:noteEndGone", condition: "compareKeys", is: false }],
      finds: /2 of 1 canceled are counted/,
    },
    UNVALIDATED,
  ],
};

const rollUpAndDelete: Pair = {
  of: "the roll-up, and a delete of a job that it counts",
  orders: 12,
  async setUp(line) {
    const [one, two] = await line.enqueue(2);
    for (const id of [one!, two!]) await line.do(line.cancels(id));
    await until(line, "rollUp");
    return {
      calls: { delete: deletes(one!) },
      async check(_, line) {
        await checkSum(line, "canceled", 2);
        await checkSum(line, "enqueued", 2);
        must(line.rows("ended").length === 0, "an end is never counted");
        await line.pass(LEASE_MS);
      },
    };
  },
  mutants: [UNVALIDATED],
};

export const COUNTING: readonly Pair[] = [
  arrivalsAndDelete,
  arrivalsAndBoth,
  rollUpAndRetry,
  rollUpAndDelete,
];
