/**
 * Pages of a list while jobs move between them: as a page keeps them, each pinned at its end, together they hold the
 * rows of one snapshot of the whole list, through any event between two of them.
 */
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import {
  PRIORITY_MAX,
  PRIORITY_MIN,
  SHARDS_MAX,
  type JobPage,
  type ListFilter,
  type ListOrder,
  type Status,
} from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { failed, newWorld, released, succeeded, type World } from "../setup.test.js";

interface Pinned {
  cursor: string | null;
  endCursor: string;
}

/** A model of the hook: it reads on behind the last page, and keeps the ends of earlier pages. */
class Reader {
  pages: Pinned[] = [];
  isDone = false;

  constructor(
    readonly world: World,
    readonly filter: ListFilter,
    readonly order: ListOrder,
  ) {}

  async more(numItems: number): Promise<void> {
    const cursor = this.pages.at(-1)?.endCursor ?? null;
    const reply = await this.ask({ numItems, cursor });
    this.pages.push({ cursor, endCursor: reply.continueCursor });
    this.isDone = reply.isDone;
  }

  async shown(): Promise<string[]> {
    const ids: string[] = [];
    for (const page of this.pages) {
      const { page: jobs, continueCursor } = await this.ask({ numItems: 3, ...page });
      expect(continueCursor).toBe(page.endCursor);
      ids.push(...jobs.map(({ id }) => id));
    }
    return ids;
  }

  async ask(opts: {
    numItems: number;
    cursor: string | null;
    endCursor?: string;
  }): Promise<JobPage> {
    const { filter, order } = this;
    return await this.world.t.query(api.observe.list, {
      ...{ queue: "tiles", filter, order, paginationOpts: opts },
    });
  }
}

const arbMove = fc.oneof(
  fc.record({
    kind: fc.constant("enqueue" as const),
    jobs: fc.array(
      fc.record(
        { priority: fc.constantFrom(-1, 0, 4), runAfter: fc.constantFrom(1_000, 9_000) },
        { requiredKeys: [] },
      ),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  fc.record({ kind: fc.constant("claim" as const), max: fc.integer({ min: 1, max: 3 }) }),
  fc.record({
    kind: fc.constant("end" as const),
    as: fc.constantFrom("succeeded", "failed", "released"),
  }),
  fc.record({ kind: fc.constant("pause" as const), nth: fc.nat(8) }),
  fc.record({ kind: fc.constant("delete" as const), nth: fc.nat(8) }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(300, 5_000) }),
  fc.record({ kind: fc.constant("more" as const), numItems: fc.integer({ min: 1, max: 4 }) }),
);

/** Pages are pinned while random moves are made, in so many runs. */
export async function movesUnderPages(numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<Status | undefined>(
        "pending",
        "succeeded",
        "scheduled",
        "running",
        undefined,
      ),
      fc.constantFrom<ListOrder>("next", "newest"),
      fc.array(arbMove, { minLength: 6, maxLength: 20 }),
      async (status, order, moves) => {
        const world = await newWorld({ shards: 3, logLevel: "error" });
        await world.enqueueBatch([1, 2, 3, 4, 5, 6]);
        const worker = world.worker("w");
        const held = await worker.claim(2);
        const reader = new Reader(world, status === undefined ? {} : { status }, order);
        await reader.more(2);
        for (const move of moves) {
          const all = await world.all("jobs");
          const nth = (n: number) => all[n % Math.max(1, all.length)]?._id;
          if (move.kind === "enqueue") {
            await world.enqueueJobs(move.jobs.map((options) => ({ payload: {}, options })));
          } else if (move.kind === "claim") {
            held.push(...(await worker.claim(move.max)));
          } else if (move.kind === "end") {
            const job = held.shift();
            const end = { succeeded, failed, released }[move.as];
            if (job !== undefined) await worker.complete([end(job)]);
          } else if (move.kind === "pause") {
            const id = nth(move.nth);
            if (id !== undefined) await world.t.mutation(api.operate.pauseJob, { id });
          } else if (move.kind === "delete") {
            const id = nth(move.nth);
            if (id !== undefined) await world.t.mutation(api.operate.deleteJob, { id });
          } else if (move.kind === "wait") {
            await world.advance(move.ms);
          } else if (!reader.isDone) {
            await reader.more(move.numItems);
          }
          const shown = await reader.shown();
          const end = reader.pages.at(-1)!.endCursor;
          const whole = await reader.ask({ numItems: 1_000, cursor: null, endCursor: end });
          expect(shown).toEqual(whole.page.map(({ id }) => id));
          if (!reader.isDone) continue;
          const there = (await world.all("jobs")).filter(
            (job) => status === undefined || job.status === status,
          );
          expect([...shown].sort()).toEqual(there.map(({ _id }) => _id as string).sort());
        }
        await world.checkInvariants();
        vi.clearAllTimers();
      },
    ),
    { numRuns, seed: 8 },
  );
}

// Shows K4.
test("pinned pages hold the rows of the whole list, without gaps and doubles, while jobs move", async () => {
  await movesUnderPages(5);
});

test("a list of a queue that comes to have more places than can be merged between two pages: the client starts over", async () => {
  for (const order of ["next", "newest"] as const) {
    const world = await newWorld({ shards: SHARDS_MAX });
    await world.enqueueBatch([1, 2, 3, 4]);
    const ask = (cursor: string | null, numItems = 2) =>
      world.t.query(api.observe.list, {
        ...{ queue: "tiles", filter: { status: "pending" as const }, order },
        paginationOpts: { numItems, cursor },
      });
    const few = await ask(null);
    for (const priority of [PRIORITY_MIN, -2, 5, PRIORITY_MAX])
      await world.enqueue({}, { priority });
    await expect(ask(few.continueCursor)).rejects.toThrow("InvalidCursor");
    const many = await ask(null);
    expect((await ask(many.continueCursor, 9)).page).toHaveLength(6);
  }
});
