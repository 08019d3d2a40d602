/**
 * The cost of reads: the documents that each query of a queue of up to 20,000 jobs reads, which are the ones that it shows; and how
 * often an open query is recomputed while the queue is busy. `tests/e2e/dashboardLarge.long.test.ts` has 100,000.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { api } from "../support/app/convex/_generated/api.js";
import { squared, type Session } from "../support/session.js";
import { startVirtualApp, type VirtualApp } from "../support/virtualApp.js";
import { CALM_EVERY_MS, CalmWatch } from "../../src/react/calmWatch.js";

const JOBS = counts(2_000, 20_000);
const SHARDS = 8;
let app: VirtualApp;

interface Page {
  page: { id: string; status: string }[];
  isDone: boolean;
  continueCursor: string;
}

/** The documents that a call reads. */
async function documentsOf<T>(path: string, args: object): Promise<{ read: number; reply: T }> {
  app.world.stats.reset();
  const reply = (await app.world.call(path, args)) as T;
  const { io } = app.world.stats.snapshot().functions[path]!;
  return { read: io.documentsRead, reply };
}

const list = async (filter: object, order: string, cursor: string | null = null) =>
  await documentsOf<Page>("races:list", {
    queue: "races",
    filter,
    order,
    paginationOpts: { numItems: 50, cursor },
  });

describe(`a queue of ${JOBS} jobs`, () => {
  beforeAll(async () => {
    app = await startVirtualApp({ seed: 1 });
    const worker = app.session("worker");
    const batch = async (count: number) => {
      const payloads = Array.from({ length: count }, (_, n) => ({ n }));
      return (await app.world.call("races:enqueue", { queue: "races", payloads })) as string[];
    };
    // Some have ended, some run, and the rest waits.
    await batch(320);
    let { jobs } = await app.world.run(worker.claim(64));
    for (let done = 0; done < 256; done += 64) {
      const finished = jobs.map(({ id, attempt }) => ({ id, attempt, outcome: squared(1) }));
      ({ jobs } = await app.world.run(worker.completeAndClaim(finished, 64)));
    }
    for (let n = 320; n < JOBS; n += 1_000) await batch(Math.min(1_000, JOBS - n));
  }, 500_000);
  afterAll(() => app.world.close());

  test.each(["pending", "running", "succeeded"] as const)(
    "a page of 50 that are %s reads 50 of them, and one more of each place",
    async (status) => {
      const heads = status === "pending" ? SHARDS : 1;
      for (const order of ["next", "newest"]) {
        const first = await list({ status }, order);
        expect(first.reply.page).toHaveLength(50);
        // The queue's row; of waiting ones the row of public cursors as well.
        expect(first.read).toBeLessThanOrEqual(50 + heads + 2);
        const second = await list({ status }, order, first.reply.continueCursor);
        expect(second.read).toBeLessThanOrEqual(50 + heads + 2);
        console.log(`list ${status} ${order}: ${first.read} and ${second.read} documents a page`);
      }
    },
  );

  test("position, why, counts and an overview read only the documents that they show", async () => {
    const { reply } = await list({ status: "pending" }, "next");
    const near = await documentsOf<{ ahead: number }>("work:position", {
      queue: "races",
      id: reply.page[40]!.id,
    });
    expect(near.reply.ahead).toBe(40);
    expect(near.read).toBeLessThanOrEqual(41 + SHARDS + 8);
    const newest = await list({ status: "pending" }, "newest");
    const far = await documentsOf("work:position", {
      queue: "races",
      id: newest.reply.page[0]!.id,
    });
    expect(far.reply).toEqual({ ahead: 100, more: true });
    expect(far.read).toBeLessThanOrEqual(101 + SHARDS + 8);
    const why = await documentsOf("work:why", { queue: "races", id: newest.reply.page[0]!.id });
    expect(why.reply).toMatchObject({ reasons: [{ kind: "atCapacity" }, { kind: "behind" }] });
    expect(why.read).toBeLessThanOrEqual(far.read + 16);
    const workers = await documentsOf("work:workers", {});
    // A worker's session, its own row for what it says of itself, and its jobs.
    expect(workers.read).toBeLessThanOrEqual(2 + 64);
    const overviews = await documentsOf("work:overviews", {});
    console.log(
      `position ${near.read} and ${far.read}, why ${why.read}, workers ${workers.read}, overview ${overviews.read} documents`,
    );
  });

  test("a filter reads a thousand rows a page at most, and then says that there is more", async () => {
    const none = await list({ status: "pending", name: "no such name" }, "next");
    expect(none.reply).toMatchObject({ page: [], isDone: false });
    expect(none.read).toBeLessThanOrEqual(1_000 + SHARDS + 2);
  });
});

describe("an open query while a queue does a hundred jobs per second", () => {
  const SECONDS = counts(8, 20);

  beforeAll(async () => {
    app = await startVirtualApp({ seed: 1 });
  }, 60_000);
  afterAll(() => app.world.close());

  /** Completes a hundred jobs per second, in twenty calls, and returns how often the list was recomputed meanwhile. */
  async function runsDuring(worker: Session): Promise<number> {
    let { jobs: held } = await app.world.run(worker.claim(5));
    app.world.stats.reset();
    const until = app.world.now() + SECONDS * 1_000;
    while (app.world.now() < until) {
      const next = app.world.now() + 50;
      const finished = held.map(({ id, attempt }) => ({ id, attempt, outcome: squared(1) }));
      ({ jobs: held } = await app.world.run(worker.completeAndClaim(finished, 5)));
      expect(held).toHaveLength(5);
      await app.world.advance(Math.max(0, next - app.world.now()));
    }
    return app.world.stats.snapshot().functions["races:list"]!.billed;
  }

  // Shows K14.
  test("is recomputed with every change as a plain subscription, and once per second as a calm one", async () => {
    const { api } = await import("../support/app/convex/_generated/api.js");
    for (let n = 0; n < counts(2, 6); n += 1) {
      const payloads = Array.from({ length: 1_000 }, (_, i) => ({ n: i }));
      await app.world.call("races:enqueue", { queue: "races", payloads });
    }
    const args = {
      queue: "races" as const,
      filter: { status: "running" as const },
      paginationOpts: { numItems: 50, cursor: null },
    };
    const client = app.world.client("page");
    const worker = app.session("worker");
    const shown: string[][] = [];

    const unwatch = client.onUpdate(api.races.list, args, () => {});
    const plain = await runsDuring(worker);
    unwatch();

    const { clock } = app.world;
    const watch = new CalmWatch<Page>(
      {
        subscribe: (onAnswer) => client.onUpdate(api.races.list, args, () => onAnswer()),
        read: () => client.client.localQueryResult("races:list", args) as Page | undefined,
      },
      CALM_EVERY_MS,
      {
        now: () => app.world.now(),
        after: (ms, run) => {
          const timer = clock.timer(ms, run);
          return () => timer.cancel();
        },
      },
    );
    const unlisten = watch.listen(() => shown.push(watch.read()!.page.map(({ id }) => id)));
    const calm = await runsDuring(worker);
    console.log(
      `a list of running jobs ran ${plain / SECONDS} times a second, calmly ${calm / SECONDS}`,
    );
    expect(plain).toBeGreaterThan(5 * SECONDS);
    expect(calm).toBeLessThanOrEqual(SECONDS);
    expect(new Set(shown.map((ids) => ids.join())).size).toBeGreaterThan(SECONDS / 4);

    // Once nothing moves any more, the page shows the present rows, and makes no calls.
    await app.world.advance(5_000);
    app.world.stats.reset();
    const now = (await app.world.call("races:list", args)) as Page;
    expect(shown.at(-1)).toEqual(now.page.map(({ id }) => id));
    await app.world.advance(20_000);
    expect(app.world.stats.snapshot().functions["races:list"]!.billed).toBeLessThanOrEqual(1);
    unlisten();
  });
});

describe("the reason why a job of a push queue does not run", () => {
  beforeAll(async () => {
    app = await startVirtualApp({ seed: 1 });
  }, 60_000);
  afterAll(() => app.world.close());

  const why = async (queue: string, id: string) => {
    const { reasons } = (await app.world.call("work:why", { queue, id })) as {
      reasons: { kind: string; text: string; until?: number }[];
    };
    return reasons;
  };

  test("as many run as may, and it says which; when they have ended it runs", async () => {
    const payloads = Array.from({ length: 25 }, (_, n) => ({ n, ms: 5_000 }));
    const ids = (await app.world.call("pushed:enqueue", { queue: "pushed", payloads })) as string[];
    await app.world.advance(2_000);
    const told = await Promise.all(ids.map((id) => why("pushed", id)));
    const running = ids.filter((_, n) => told[n]![0]!.kind === "running");
    expect(running).toHaveLength(10);
    const waiting = told.filter(([first]) => first!.kind === "atCapacity");
    expect(waiting).toHaveLength(15);
    for (const [full, place] of waiting) {
      expect(full!.text).toMatch(/its `maxParallelism`: \S+, \S+, \S+ and 7 more\.$/);
      expect(running.some((id) => full!.text.includes(id))).toBe(true);
      expect(["behind", "next"]).toContain(place!.kind);
    }
    await app.world.advance(30_000);
    expect((await why("pushed", ids[24]!))[0]!.kind).toBe("ended");
  });

  test("it is left to workers outside while one that may take it is there, and after that it is done", async () => {
    const { world, token } = app;
    const offer = { queues: ["mixed"], max: 1 };
    const call = { token, sessionKey: "outside", name: "outside", callSeq: 1, ...offer };
    await world.run(world.httpClient("outside").mutation(api.work.claim, call));
    await world.advance(1_000);
    const payloads = [{ n: 2, ms: 0 }];
    const [id] = (await app.world.call("pushed:enqueueMixed", { payloads })) as [string];
    await world.advance(700);
    expect(await why("mixed", id)).toMatchObject([{ kind: "next" }]);
    await app.world.advance(5_000);
    expect((await why("mixed", id))[0]!.kind).toBe("ended");
  });
});
