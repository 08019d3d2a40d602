/** Rows of the app's own table as jobs: which of the offered ones a claim takes, and how their announcement ends. */
import { describe, expect, test } from "vitest";
import { ID_MAX_LENGTH, OFFERED_ROWS_MAX, PROGRESS_MAX_BYTES } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { newWorld, refusal, succeeded, type World } from "../setup.test.js";

type Offered = { queue?: string; ids: string[]; all?: boolean };

/** A worker that claims with an offer of rows. */
function claimer(world: World, sessionKey = "s") {
  const { token, queue } = world;
  let callSeq = 0;
  const offer = (rows: Offered[]) => rows.map((one) => ({ queue: queue.name, ...one }));
  return {
    claim: async (rows: Offered[], more: object = {}) => {
      callSeq += 1;
      const caller = { token, sessionKey, callSeq, name: sessionKey, queues: [queue], max: 2 };
      const reply = await world.t.mutation(api.lib.claim, {
        ...caller,
        rows: offer(rows),
        ...more,
      });
      return { ...reply, took: reply.jobs.map(({ payload }) => payload) };
    },
    /** Ends a job, and claims in the same call. */
    complete: async (finished: { id: string; attempt: number }[], rows: Offered[], max = 2) => {
      callSeq += 1;
      const claim = { queues: [queue], max, rows: offer(rows) };
      const call = { token, sessionKey, callSeq, finished: finished.map((one) => succeeded(one)) };
      return (await world.t.mutation(api.lib.complete, { ...call, claim })).jobs ?? [];
    },
  };
}

const ids = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `r${from + i}`);
const announce = (world: World) => world.t.mutation(api.tables.announce, { queue: "tiles" });
const wanted = (world: World, more: object = {}) =>
  world.t.query(api.tables.wanted, { token: world.token, queue: "tiles", ...more });
const isAnnounced = async (world: World) => (await wanted(world))?.announced;

describe("a claim takes offered rows", () => {
  test("in their order, each once, as far as there is room after the jobs that wait", async () => {
    const world = await newWorld();
    await world.enqueue("job");
    const { claim } = claimer(world);
    const { took } = await claim([{ ids: ["a", "a", "b", "c"] }], { max: 3 });
    expect(took).toEqual(["job", "a", "b"]);
    expect((await claim([{ ids: ["c"] }])).took).toEqual(["c"]);
  });

  test("past the ones whose jobs are active, which it names", async () => {
    const world = await newWorld();
    const { claim } = claimer(world);
    await claim([{ ids: ["a", "b"] }]);
    const { took, busyRows } = await claim([{ ids: ["a", "c", "b", "d", "e"] }]);
    expect(took).toEqual(["c", "d"]);
    expect(busyRows).toEqual(["a", "b"]);
    expect(await claim([{ ids: ["f"] }])).not.toHaveProperty("busyRows");
  });

  test("as jobs with the row's id as payload and key, at the cost of plain jobs", async () => {
    const world = await newWorld();
    const { claim } = claimer(world);
    const { jobs } = await claim([{ ids: ["a", "b", "c"] }], { max: 8, maxCost: 2 });
    expect(jobs.map(({ payload }) => payload)).toEqual(["a", "b"]);
    expect(await world.job(jobs[0]!.id)).toMatchObject({ key: "a", status: "running" });
    expect((await claim([{ ids: ["c"] }], { max: 8, maxCost: 1 })).took).toEqual(["c"]);
    expect((await claim([{ ids: ["d"] }], { max: 8 })).took).toEqual(["d"]);
  });

  test("not for a worker of groups, of which rows have none", async () => {
    const world = await newWorld();
    const { claim } = claimer(world);
    expect((await claim([{ ids: ["a"] }], { groups: ["g"] })).took).toEqual([]);
    expect((await claim([{ ids: ["a"] }])).took).toEqual(["a"]);
  });

  test("of no queue that is drained, or that it does not claim from", async () => {
    const world = await newWorld();
    const { claim } = claimer(world);
    await claim([]);
    expect((await claim([{ queue: "other", ids: ["a"] }])).took).toEqual([]);
    await world.t.mutation(api.operate.drainQueue, { queue: "tiles" });
    expect((await claim([{ ids: ["a"] }])).took).toEqual([]);
    expect(await wanted(world)).toBeNull();
  });

  test("of a bounded number: of all queues together it looks at no more", async () => {
    const world = await newWorld();
    const { claim } = claimer(world);
    const most = ids(OFFERED_ROWS_MAX);
    for (let i = 0; i < 64; i += 2) await claim([{ ids: ids(2, i) }]);
    const other = claimer(world, "t");
    for (let i = 64; i < 128; i += 2) await other.claim([{ ids: ids(2, i) }]);
    const third = claimer(world, "u");
    const { took, busyRows } = await third.claim([{ ids: most }, { ids: ["x"] }]);
    expect([took, busyRows!.length]).toEqual([[], OFFERED_ROWS_MAX]);
    const next = await third.claim([{ ids: most.slice(1) }, { ids: ["x", "y"] }]);
    expect(next.took).toEqual(["x"]);
  });

  test.each([
    ["more rows than are looked at", ids(OFFERED_ROWS_MAX + 1)],
    ["a row without an id", [" "]],
    ["an id that is too long", ["x".repeat(ID_MAX_LENGTH + 1)]],
  ])("and is refused with %s", async (_what, refused) => {
    const world = await newWorld();
    const { claim } = claimer(world);
    expect(await refusal(claim([{ ids: refused }]))).toMatchObject({ code: "invalidArgument" });
    expect(await world.all("jobs")).toEqual([]);
  });
});

describe("an announcement", () => {
  test("ends with a claim that leaves none of all rows, and not before", async () => {
    const world = await newWorld();
    const { claim } = claimer(world);
    expect(await isAnnounced(world)).toBe(false);
    await claim([{ ids: [], all: true }]);
    expect(await world.all("announced")).toEqual([]);
    await announce(world);
    const [first] = await world.all("announced");
    await announce(world);
    expect(await world.all("announced")).toEqual([first]);
    expect(await isAnnounced(world)).toBe(true);
    await claim([{ ids: ["a", "b", "c"], all: true }]);
    await claim([{ ids: ["c"], all: false }]);
    expect(await isAnnounced(world)).toBe(true);
    await claim([{ ids: ["c", "a"], all: true }]);
    expect(await isAnnounced(world)).toBe(false);
    await announce(world);
    expect(await isAnnounced(world)).toBe(true);
  });

  test("that a callback may have made stands where the same call leaves rows, and ends where it leaves none", async () => {
    const world = await newWorld();
    const { claim, complete } = claimer(world);
    const { jobs } = await claim([{ ids: ["a", "b"] }]);
    await announce(world);
    await complete([jobs[0]!], [{ ids: ["c", "d", "e"], all: true }], 2);
    expect(await isAnnounced(world)).toBe(true);
    await complete([jobs[1]!], [{ ids: ["e"], all: true }], 1);
    expect(await isAnnounced(world)).toBe(false);
    // What was not announced before is not announced after.
    await complete([jobs[0]!], [{ ids: ["f", "g"], all: true }], 1);
    expect(await isAnnounced(world)).toBe(false);
  });

  test("is untouched by a call that may take no row: of a queue at rest, or of a quiet worker", async () => {
    const world = await newWorld();
    const { claim, complete } = claimer(world);
    const { jobs } = await claim([{ ids: ["a", "b"] }]);
    await announce(world);
    await world.t.mutation(api.operate.pauseQueue, { queue: "tiles" });
    await complete([jobs[0]!], [{ ids: [], all: true }]);
    await world.t.mutation(api.operate.resumeQueue, { queue: "tiles" });
    expect(await isAnnounced(world)).toBe(true);
    await world.t.mutation(api.operate.drainQueue, { queue: "tiles" });
    await complete([jobs[1]!], [{ ids: [], all: true }]);
    await world.t.mutation(api.operate.resumeQueue, { queue: "tiles" });
    expect(await isAnnounced(world)).toBe(true);
    const session = (await world.all("sessions"))[0]!._id;
    await world.t.run((ctx) => ctx.db.patch("sessions", session, { isQuiet: true }));
    await complete([jobs[0]!], [{ ids: [], all: true }]);
    expect(await isAnnounced(world)).toBe(true);
  });

  test("is for workers that may take rows: not while the queue is paused, and none of groups", async () => {
    const world = await newWorld();
    await announce(world);
    expect(await wanted(world)).toEqual({ announced: true });
    expect(await wanted(world, { groups: ["g"] })).toBeNull();
    await world.enqueue();
    expect(await wanted(world)).toEqual({ announced: true });
    await world.t.mutation(api.operate.pauseQueue, { queue: "tiles" });
    expect(await wanted(world)).toBeNull();
  });
});

test("rows and their announcement are for tokens of the queue that are bound to no groups", async () => {
  const world = await newWorld();
  await world.enqueue();
  await announce(world);
  const made = async (more: object) =>
    (await world.t.mutation(api.operate.createToken, { name: "t", queues: null, ...more })).token;
  const foreign = await made({ queues: ["other"] });
  expect(await refusal(wanted(world, { token: foreign }))).toMatchObject({
    code: "queueForbidden",
  });
  const grouped = await made({ groups: ["g"] });
  expect(await wanted(world, { token: grouped })).toBeNull();
  const { token, queue } = world;
  const own = await made({ groups: { prefix: "own:" } });
  for (const [i, secret] of [grouped, own, token].entries()) {
    const caller = { token: secret, sessionKey: `${i}`, callSeq: 1, name: "w", queues: [queue] };
    const rows = [{ queue: "tiles", ids: ["a"] }];
    const { jobs } = await world.t.mutation(api.lib.claim, { ...caller, max: 2, rows });
    expect(jobs).toHaveLength(secret === token ? 2 : 0);
  }
});

describe("a loop over batches", () => {
  const loop = (world: World) => world.t.query(api.tables.loop, { queue: "tiles" });
  const advance = (world: World, to: { turn: number; cursor?: unknown }) =>
    world.t.mutation(api.tables.advance, { queue: "tiles", ...to });

  test("begins at its first turn, and keeps its turn, its cursor and the announcement apart", async () => {
    const world = await newWorld();
    expect(await loop(world)).toEqual({ turn: 0 });
    await advance(world, { turn: 1 });
    expect(await loop(world)).toEqual({ turn: 1 });
    expect(await isAnnounced(world)).toBe(false);
    await announce(world);
    await advance(world, { turn: 2, cursor: "at" });
    expect(await loop(world)).toEqual({ turn: 2, cursor: "at" });
    expect(await isAnnounced(world)).toBe(true);
    expect(await world.all("announced")).toHaveLength(1);
  });

  test("has a cursor of bounded size", async () => {
    const world = await newWorld();
    const cursor = "x".repeat(PROGRESS_MAX_BYTES);
    expect(await refusal(advance(world, { turn: 1, cursor }))).toMatchObject({
      code: "invalidArgument",
    });
    expect(await loop(world)).toEqual({ turn: 0 });
  });
});
