import { describe, expect, test } from "vitest";
import type {
  JobOptions,
  JobPage,
  ListFilter,
  ListOrder,
  PageOptions,
  Status,
} from "../../shared/index.js";
import { LIST_PLACES_MAX, PRIORITY_MAX, PRIORITY_MIN, SHARDS_MAX } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { failed, newWorld, refusal, released, succeeded, T0, type World } from "../setup.test.js";

interface Ask extends Partial<PageOptions> {
  queue?: string;
  filter?: ListFilter;
  order?: ListOrder;
}

async function ask(world: World, { queue = "tiles", filter, order, ...page }: Ask = {}) {
  return await world.t.query(api.observe.list, {
    queue,
    ...(filter === undefined ? {} : { filter }),
    ...(order === undefined ? {} : { order }),
    paginationOpts: { numItems: 10, cursor: null, ...page },
  });
}

/** All pages of this size, one after another, and the jobs that they hold. */
async function walk(world: World, numItems: number, asked: Ask = {}): Promise<JobPage["page"]> {
  const jobs: JobPage["page"] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < 200; pages += 1) {
    const reply: JobPage = await ask(world, { ...asked, numItems, cursor });
    jobs.push(...reply.page);
    if (reply.isDone) return jobs;
    expect(reply.continueCursor).not.toBe(cursor);
    cursor = reply.continueCursor;
  }
  throw new Error("The list has no end.");
}

const names = (jobs: JobPage["page"]) => jobs.map(({ name }) => name);

async function enqueueAll(world: World, jobs: [name: string, options?: JobOptions][]) {
  for (const [name, options = {}] of jobs) await world.enqueue({}, { ...options, name });
}

describe("waiting jobs", () => {
  test("are listed in the order in which they are claimed, and the other way round", async () => {
    const world = await newWorld({ shards: 8 });
    await enqueueAll(world, [
      ["low", { priority: -3 }],
      ["a"],
      ["high", { priority: 7 }],
      ["b"],
      ["dear", { cost: 9, labels: ["gpu"] }],
      ["c"],
      ["late", { runAfter: 60_000 }],
    ]);
    const worker = world.worker("w");
    const [job] = await worker.claim(1, { labels: ["gpu"] });
    expect(job!.name).toBe("high");
    await worker.complete([released(job!)]);
    const filter: ListFilter = { status: "pending" };
    const wanted = ["high", "a", "b", "dear", "c", "low"];
    for (const size of [1, 2, 3, 100]) {
      expect(names(await walk(world, size, { filter }))).toEqual(wanted);
      const newest = await walk(world, size, { filter, order: "newest" });
      expect(names(newest)).toEqual([...wanted].reverse());
    }
  });

  test("that come back go before new ones of their priority, as they are claimed", async () => {
    const world = await newWorld({ shards: 4 });
    await enqueueAll(world, [["first"]]);
    const worker = world.worker("w");
    const [job] = await worker.claim();
    await enqueueAll(world, [["second"], ["third", { priority: 1 }]]);
    await worker.complete([released(job!)]);
    const listed = await walk(world, 1, { filter: { status: "pending" } });
    expect(names(listed)).toEqual(["third", "first", "second"]);
  });

  test("lie behind all other jobs while they are paused, and say so", async () => {
    const world = await newWorld({ shards: 4 });
    await enqueueAll(world, [["a", { priority: 9 }], ["b"]]);
    const [a] = (await ask(world, { filter: { status: "pending" } })).page;
    await world.t.mutation(api.operate.pauseJob, { id: a!.id });
    const listed = await walk(world, 1, { filter: { status: "pending" } });
    expect(listed).toMatchObject([{ name: "b" }, { name: "a", paused: true, status: "pending" }]);
    const newest = await walk(world, 1, { filter: { status: "pending" }, order: "newest" });
    expect(names(newest)).toEqual(["a", "b"]);
  });

  test("of one transaction, which share their commit, are all listed at any page size", async () => {
    const world = await newWorld({ shards: 3 });
    const ids = await world.enqueueBatch(Array.from({ length: 25 }, (_, n) => n));
    for (const size of [1, 4, 7]) {
      for (const order of ["next", "newest"] as const) {
        const listed = await walk(world, size, { filter: { status: "pending" }, order });
        const sorted = order === "next" ? ids : [...ids].reverse();
        expect(listed.map(({ id }) => id)).toEqual(sorted);
      }
    }
  });

  test("of more places than can be merged are listed by priority, and none is left out", async () => {
    const world = await newWorld({ shards: SHARDS_MAX });
    const priorities = [PRIORITY_MIN, -2, 0, 5, PRIORITY_MAX];
    expect(priorities.length * SHARDS_MAX * 2).toBeGreaterThan(LIST_PLACES_MAX);
    for (const priority of [...priorities, ...priorities]) await world.enqueue({}, { priority });
    const [held] = await world.enqueueBatch([1]);
    await world.t.mutation(api.operate.pauseJob, { id: held! });
    for (const order of ["next", "newest"] as const) {
      const listed = await walk(world, 3, { filter: { status: "pending" }, order });
      const rows = order === "next" ? listed : [...listed].reverse();
      expect(rows.map(({ priority = 0, paused }) => (paused ? "paused" : priority))).toEqual([
        ...[10, 10, 5, 5, 0, 0, -2, -2, -10, -10],
        "paused",
      ]);
      expect(new Set(rows.map(({ id }) => id)).size).toBe(11);
    }
  });
});

describe("the other statuses", () => {
  // Shows E15.
  test("are listed as they fall due, began or ended, with the fields of each status", async () => {
    const world = await newWorld();
    await enqueueAll(world, [
      ["in an hour", { runAfter: 3_600_000 }],
      ["in a minute", { runAfter: 60_000 }],
      ["a", { group: "g", tags: ["t"], key: { value: "k" } }],
      ["b"],
      ["c"],
    ]);
    const worker = world.worker("w");
    const jobs = await worker.claim(3);
    await worker.complete([failed(jobs[1]!, "x".repeat(1_000))]);
    await world.advance(100);
    await worker.complete([failed(jobs[0]!, "boom")]);
    const listed = async (status: Status, order: ListOrder = "next") =>
      await walk(world, 1, { filter: { status }, order });
    expect(names(await listed("scheduled"))).toEqual(["in a minute", "in an hour"]);
    expect((await listed("scheduled"))[0]).toMatchObject({ dueAt: T0 + 60_000 });
    expect(names(await listed("scheduled", "newest"))).toEqual(["in an hour", "in a minute"]);
    expect(await listed("running")).toMatchObject([{ name: "c", worker: "w", startedAt: T0 }]);
    expect(names(await listed("failed"))).toEqual(["b", "a"]);
    const [a, b] = await listed("failed", "newest");
    expect(a).toMatchObject({
      ...{ name: "a", group: "g", tags: ["t"], key: "k", error: "boom", failures: 1 },
      ...{ finishedAt: T0 + 100, startedAt: T0, enqueuedAt: T0, attempt: 1, queue: "tiles" },
    });
    expect(b!.error).toBe("x".repeat(200));
    expect(a).not.toHaveProperty("dueAt");
    expect(await listed("succeeded")).toEqual([]);
  });

  test("without a status: running, waiting, due later, and then ended jobs", async () => {
    const world = await newWorld({ shards: 8 });
    await enqueueAll(world, [["ok"], ["bad"], ["gone"], ["busy"]]);
    const worker = world.worker("w");
    const jobs = await worker.claim(4);
    const of = (name: string) => jobs.find((job) => job.name === name)!;
    await worker.complete([failed(of("bad"))]);
    await worker.complete([succeeded(of("ok"))]);
    await world.t.mutation(api.operate.deleteJob, { id: of("gone").id });
    await enqueueAll(world, [["x"], ["later", { runAfter: 5_000 }], ["urgent", { priority: 5 }]]);
    const next = ["busy", "urgent", "x", "later", "bad", "ok"];
    const newest = ["busy", "x", "urgent", "later", "ok", "bad"];
    for (const size of [1, 2, 50]) {
      expect(names(await walk(world, size))).toEqual(next);
      expect(names(await walk(world, size, { order: "newest" }))).toEqual(newest);
    }
  });
});

describe("filters", () => {
  // Shows K4.
  test("narrow a list by name, worker, tag and group, all of which must hold", async () => {
    const world = await newWorld({ shards: 2 });
    await enqueueAll(world, [
      ["render", { group: "a", tags: ["x", "y"] }],
      ["render", { group: "b", tags: ["y"] }],
      ["mail", { group: "a", tags: ["y"] }],
    ]);
    const filtered = async (filter: ListFilter) => (await walk(world, 1, { filter })).length;
    expect(await filtered({ status: "pending", name: "render" })).toBe(2);
    expect(await filtered({ status: "pending", tag: "y" })).toBe(3);
    expect(await filtered({ status: "pending", tag: "x" })).toBe(1);
    expect(await filtered({ name: "render", group: "a", tag: "y" })).toBe(1);
    await world.worker("one").claim(1);
    await world.worker("two").claim(1);
    expect(await filtered({ status: "running", worker: "one" })).toBe(1);
    expect(await filtered({ worker: "three" })).toBe(0);
  });

  // Shows SG-13.
  test("by a wait for a retry name the jobs that have failed and are due again later, and no job that is only due later", async () => {
    const retry = { maxAttempts: 3, initialBackoffMs: 60_000, base: 1, maxBackoffMs: 60_000 };
    const world = await newWorld({ retry });
    const [first, second] = await world.enqueueBatch([1, 2, 3]);
    await world.enqueue(4, { runAfter: 60_000 });
    const worker = world.worker("a");
    const jobs = await worker.claim(2);
    await worker.complete(jobs.map((job) => failed(job)));
    const listed = async (filter: ListFilter) => {
      const paginationOpts = { numItems: 10, cursor: null };
      const { page } = await world.t.query(api.observe.list, {
        ...{ queue: "tiles", filter, paginationOpts },
      });
      return page.map(({ id }) => id).sort();
    };
    expect(await listed({ retrying: true })).toEqual([first, second].sort());
    expect(await listed({ status: "scheduled", retrying: true })).toEqual([first, second].sort());
    expect(await listed({ status: "pending", retrying: true })).toEqual([]);
    const { scheduled, pending } = await world.t.query(api.lib.counts, { queue: "tiles" });
    expect(scheduled).toEqual({ count: 3, more: false, retrying: 2 });
    expect(pending).toEqual({ count: 1, more: false });
    const { counts } = await world.t.query(api.observe.gauge, { queue: "tiles" });
    expect(counts.scheduled).toEqual({ count: 3, more: false, retrying: 2 });
  });

  test("read a bounded number of rows per page, and the next page begins behind the rows passed over", async () => {
    const world = await newWorld();
    await world.enqueueBatch(Array.from({ length: 40 }, () => ({})));
    await enqueueAll(world, [["needle"]]);
    const filter: ListFilter = { status: "pending", name: "needle" };
    const first = await ask(world, { filter, maximumRowsRead: 15 });
    expect(first).toMatchObject({ page: [], isDone: false });
    // A hook must not take a short page for a part of one.
    expect(first.pageStatus).toBeUndefined();
    const more: Ask = { filter, maximumRowsRead: 15, cursor: first.continueCursor };
    const second = await ask(world, more);
    const third = await ask(world, { ...more, cursor: second.continueCursor });
    expect(names(third.page)).toEqual(["needle"]);
    expect(third.isDone).toBe(true);
  });
});

describe("a cursor", () => {
  test.each<["next" | "newest", string[]]>([
    ["next", ["a", "b"]],
    ["newest", ["b", "a"]],
  ])("names no job that the filter passes by, and goes on behind it (%s)", async (order, all) => {
    const world = await newWorld();
    const put = async (name: string, group: string) => await world.enqueue({}, { name, group });
    const others: string[] = [];
    for (const name of ["a", "b"]) {
      for (let n = 0; n < 3; n += 1) others.push(await put("other", "theirs"));
      await put(name, "mine");
      others.push(await put("other", "theirs"));
    }
    const filter: ListFilter = { status: "pending", group: "mine" };
    for (const maximumRowsRead of [1, 2, 3]) {
      const found: string[] = [];
      let cursor: string | null = null;
      for (let pages = 0; pages < 20; pages += 1) {
        const reply: JobPage = await ask(world, { filter, order, maximumRowsRead, cursor });
        for (const id of others) expect(JSON.stringify(reply)).not.toContain(id);
        const pinned = { filter, order, cursor, endCursor: reply.continueCursor };
        const again = await ask(world, pinned);
        expect(names(again.page)).toEqual(names(reply.page));
        const cut = await ask(world, { ...pinned, maximumRowsRead: 2 });
        for (const id of others) expect(JSON.stringify(cut)).not.toContain(id);
        found.push(...(names(reply.page) as string[]));
        cursor = reply.continueCursor;
        if (reply.isDone) break;
      }
      expect(found).toEqual(all);
    }
  });
});

describe("a page", () => {
  test("with its end pinned holds the rows that lie there now, however many, and no page repeats them", async () => {
    const world = await newWorld();
    await enqueueAll(world, [["a"], ["b"], ["c"], ["d"]]);
    const filter: ListFilter = { status: "succeeded" };
    const worker = world.worker("w");
    const jobs = await worker.claim(4);
    for (const job of jobs.slice(0, 3)) await worker.complete([succeeded(job)]);
    const first = await ask(world, { filter, order: "newest", numItems: 2 });
    expect(names(first.page)).toEqual(["c", "b"]);
    await worker.complete([succeeded(jobs[3]!)]);
    const pinned = await ask(world, {
      ...{ filter, order: "newest", numItems: 2, endCursor: first.continueCursor },
    });
    expect(names(pinned.page)).toEqual(["d", "c", "b"]);
    expect(pinned).toMatchObject({ continueCursor: first.continueCursor, isDone: false });
    const second = await ask(world, {
      ...{ filter, order: "newest", numItems: 2, cursor: first.continueCursor },
    });
    expect(names(second.page)).toEqual(["a"]);
    expect(second.isDone).toBe(true);
    const last = await ask(world, {
      ...{ filter, order: "newest", numItems: 2, cursor: first.continueCursor },
      endCursor: second.continueCursor,
    });
    expect(last).toMatchObject({ isDone: true, continueCursor: second.continueCursor });
    expect(names(last.page)).toEqual(["a"]);
    expect(await ask(world, { filter, cursor: second.continueCursor })).toMatchObject({
      ...{ page: [], isDone: true },
    });
  });

  test("that grew too long is asked for in halves, which together reach to its end", async () => {
    const world = await newWorld();
    const ids = await world.enqueueBatch(Array.from({ length: 20 }, (_, n) => n));
    const filter: ListFilter = { status: "pending" };
    const whole = await ask(world, { filter, numItems: 18 });
    const endCursor = whole.continueCursor;
    const grown = await ask(world, { filter, numItems: 5, endCursor, maximumRowsRead: 10 });
    expect(grown.pageStatus).toBe("SplitRequired");
    expect(grown.continueCursor).toBe(endCursor);
    const upper = await ask(world, { filter, numItems: 5, endCursor: grown.splitCursor! });
    const lower = await ask(world, { filter, numItems: 5, cursor: grown.splitCursor!, endCursor });
    const both = [...upper.page, ...lower.page].map(({ id }) => id);
    expect(both).toEqual(ids.slice(0, 18));
  });

  test("of a queue that nothing was put into is empty, and another queue's jobs are in none", async () => {
    const world = await newWorld();
    await world.enqueue();
    expect(await ask(world, { queue: "never" })).toEqual({
      ...{ page: [], isDone: true, continueCursor: "[]" },
    });
    const { continueCursor } = await ask(world, { numItems: 1 });
    world.queue.name = "other";
    await world.enqueue();
    expect(await walk(world, 1, { queue: "other" })).toMatchObject([{ queue: "other" }]);
    expect((await ask(world, { queue: "tiles", cursor: continueCursor })).page).toEqual([]);
  });

  test("is refused for cursors and sizes that are none", async () => {
    const world = await newWorld();
    await world.enqueue();
    const seq = '{"$integer":"AAAAAAAAAAA="}';
    await world.enqueue();
    const { continueCursor } = await ask(world, { filter: { status: "pending" }, numItems: 1 });
    const [rank] = JSON.parse(continueCursor) as number[];
    const bad = ["", "x", "{}", "null", '["a"]', `[${rank}]`, `[${rank},${seq},0]`];
    for (const cursor of [...bad, `[${rank},1,2,"id"]`, `[${rank},${seq},"x","id"]`]) {
      for (const page of [{ cursor }, { endCursor: cursor }]) {
        const { code, message } = await refusal(
          ask(world, { filter: { status: "pending" }, ...page }),
        );
        expect(code, cursor).toBe("invalidArgument");
        // By this word the hooks know that they are to begin anew.
        expect(message).toContain("InvalidCursor");
      }
    }
    for (const numItems of [0, -1, 1.5, 1_001, NaN]) {
      expect((await refusal(ask(world, { numItems }))).code).toBe("invalidArgument");
    }
    expect((await refusal(ask(world, { queue: "no such name" }))).code).toBe("invalidArgument");
    expect((await refusal(ask(world, { maximumRowsRead: 0 }))).code).toBe("invalidArgument");
    for (const maximumBytesRead of [0, -1, NaN])
      expect((await refusal(ask(world, { maximumBytesRead }))).code).toBe("invalidArgument");
  });
});

describe("by key", () => {
  const byKey = async (world: World, key: string, queue = "tiles") =>
    await world.t.query(api.observe.byKey, { queue, key });

  test("a job is found while it has its key, and not in another queue", async () => {
    const world = await newWorld();
    const id = await world.enqueue({}, { key: { value: "order-1" }, name: "n" });
    expect(await byKey(world, "order-1")).toMatchObject({ id, name: "n", status: "pending" });
    expect(await byKey(world, "order-2")).toBeNull();
    expect(await byKey(world, "order-1", "other")).toBeNull();
    await world.cancel(id);
    expect(await byKey(world, "order-1")).toBeNull();
  });

  test("a job is found for as long as its key is kept for a window, and no longer", async () => {
    const world = await newWorld();
    const id = await world.enqueue({}, { key: { value: "k", windowMs: 60_000 } });
    await world.cancel(id);
    expect(await byKey(world, "k")).toMatchObject({ id, status: "canceled" });
    await world.skipTo(T0 + 60_000);
    expect(await byKey(world, "k")).toBeNull();
  });
});
