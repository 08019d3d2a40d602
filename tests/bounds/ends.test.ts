/** Ends of attempts with the largest rows around them, and enqueues with the longest options: under half of a transaction. */
import { beforeAll, expect, test } from "vitest";
import { PLATFORM_LIMITS } from "../../local/limits.js";
import { ENQUEUE_MAX_JOBS, LEASES_MAX } from "../../src/shared/index.js";
import { mutation } from "../interleavings/line.js";
import { Transactions, type Call } from "../interleavings/transactions.js";
import { COMPONENT, deploymentOf } from "../races/deployment.js";
import { declarationOf, heavyJob, labelsOf, many, queueName, text } from "./fullShapes.js";
import { LargeWorld, usedBy } from "./largeWorld.js";

const [RING, WAITING, PLAIN, LISTED] = [70, 71, 72, 73];
/** Three bytes. */
const WIDE = "€";
const SILENT = 4;
let world: LargeWorld;

beforeAll(async () => {
  world = new LargeWorld(new Transactions(await deploymentOf([]), { class: "d2048" }));
  await world.line.open();
  for (const n of [RING, WAITING, PLAIN, LISTED]) {
    const { name, config } = declaration(n);
    await world.plant("queues", [
      { name, config, configuredAt: 1, shardsEver: config.shards, epoch: 0 },
    ]);
  }
}, 120_000);

function declaration(n: number) {
  const { name, config } = declarationOf(n);
  const own = n === RING ? { circular: true, shards: 1 } : n === LISTED ? { listBy: ["tag"] } : {};
  return { name, config: { ...config, ...own } };
}

/** A session with as many jobs as it may have: each failed a thousand times, succeeded as often, and runs now. */
async function holding(sessionKey: string, expiresAt: number) {
  const { now } = world.transactions;
  const [token] = world.line.rows("tokens");
  const queue = queueName(RING);
  const attempt = 2_001;
  const times = { enqueuedAt: now - 60_000, startedAt: now - 60_000 };
  const jobs = await world.plant(
    "jobs",
    many(LEASES_MAX, () => ({
      ...{ ...heavyJob(queue), status: "running", order: 0, shard: 0, seq: world.seqOf(60_000) },
      ...{ ...times, attempt },
    })),
  );
  const leases = jobs.map((id) => ({ id, attempt }));
  const [session] = await world.plant("sessions", [
    {
      ...{ sessionKey, token: token!._id, name: "w", lastSeenAt: expiresAt - 61_000, callSeq: 1 },
      ...{ state: "active", expiresAt, queues: [queue], acknowledged: true },
      reply: { answers: [] },
      leases: leases.map((lease) => ({ ...lease, queue, callSeq: 1, leaseMs: 60_000 })),
    },
  ]);
  await world.write(async (transaction) => {
    for (const id of jobs) await transaction.patch(COMPONENT, id, { session });
  });
  for (const job of jobs) {
    const about = { job, outcome: "failed", worker: "w", endedAt: 1 };
    const [error, trace] = [text(4_096), text(4_096)];
    await world.plant(
      "attempts",
      many(8, (n) => ({ ...about, attempt: n + 1, error, trace })),
    );
  }
  return leases;
}

async function run(call: Call) {
  const begun = await world.transactions.run(world.line.point, call);
  const { databaseQueries, bytesRead, documentsWritten, bytesWritten } = usedBy(begun);
  return { begun, used: { databaseQueries, bytesRead, documentsWritten, bytesWritten } };
}

function isUnderHalf(used: Awaited<ReturnType<typeof run>>["used"]) {
  for (const [of, got] of Object.entries(used))
    expect(got, of).toBeLessThan(PLATFORM_LIMITS[of as keyof typeof used] / 2);
}

const caller = (sessionKey: string) => ({ token: world.line.token, sessionKey, callSeq: 2 });

test("failures of jobs with more attempts than are kept, and a claim of large payloads", async () => {
  const leases = await holding("fails", world.transactions.now + 60_000);
  for (const [n, bytes] of [...many(63, () => 66_000), 2 ** 20 - 4_096].entries()) {
    const [row] = await world.plant("payloads", [{ value: text(bytes) }]);
    const ago = 600_000 - n * 1_000;
    const { labels: _, worker: __, ...job } = heavyJob(queueName(WAITING));
    await world.plant("jobs", [
      {
        ...{ ...job, payload: { row, bytes }, status: "pending", order: 21, shard: 0 },
        ...{ seq: world.seqOf(ago), enqueuedAt: world.transactions.now - ago },
      },
    ]);
  }
  const outcome = { kind: "failed", error: text(4_096), trace: text(4_096) };
  const { begun, used } = await run(
    mutation("lib:complete", {
      ...{ ...caller("fails"), finished: leases.map((lease) => ({ ...lease, outcome })) },
      claim: { queues: [declaration(WAITING)], max: LEASES_MAX },
    }),
  );
  expect(begun.result).toMatchObject({ ok: true });
  isUnderHalf(used);
  const claims = { ...caller("claims"), callSeq: 1, name: "w", queues: [declaration(WAITING)] };
  const claim = await run(mutation("lib:claim", { ...claims, max: LEASES_MAX }));
  expect(claim.begun.result).toMatchObject({ ok: true });
  isUnderHalf(claim.used);
}, 60_000);

test("the sweep of silent sessions with such jobs: it ends the leases of two, and goes on at once", async () => {
  const before = world.line.point;
  const { now } = world.transactions;
  for (let n = 1; n <= SILENT; n += 1) await holding(`silent${n}`, now - 3_000 + n);
  const [timer] = await world.plant("timers", [{ kind: "janitor", dueAt: now }]);
  const { begun, used } = await run(mutation("tend/janitor:sweep", { timer }));
  expect(begun.result).toMatchObject({ ok: true });
  isUnderHalf(used);
  world.line.point = world.line.point.commit(begun.transaction, "sweep")!;
  const running = () =>
    world.line.rows("sessions").filter(({ sessionKey, state }) => {
      return String(sessionKey).startsWith("silent") && state === "active";
    }).length;
  expect(running()).toBe(SILENT - 2);
  const next = world.transactions
    .due(world.line.point, now)
    .find(({ row }) => row!.target.path.startsWith("tend/janitor"));
  await world.line.do(next!);
  expect(running()).toBe(0);
  world.line.point = before;
}, 60_000);

const following = (n: number) => ({
  payload: n,
  options: {
    ...{ key: { value: `key${n}` }, runAfter: 60_000 + n * 100, expiresAfterMs: 60_000 },
    ...{ deadlineMs: 6_000_000 + n * 100, prefer: { worker: "w", forMs: 60_000 } },
  },
});

test("outcomes that as many jobs follow as one call enqueues; more are refused, before anything is written", async () => {
  const leases = await holding("continues", world.transactions.now + 60_000);
  const finished = (ofEach: number) =>
    leases.map((lease, i) => ({
      ...{ ...lease, outcome: { kind: "succeeded", result: null } },
      continued: [
        { queue: declaration(PLAIN), jobs: many(ofEach, (n) => following(i * ofEach + n)) },
      ],
    }));
  const most = Math.floor(ENQUEUE_MAX_JOBS / LEASES_MAX);
  const call = (ofEach: number) =>
    mutation("lib:complete", { ...caller("continues"), finished: finished(ofEach) });
  const { begun, used } = await run(call(most));
  expect(begun.result).toMatchObject({ ok: true });
  isUnderHalf(used);
  const { begun: refused } = await run(call(most + 1));
  expect(refused.result).toMatchObject({ ok: false, data: { code: "invalidArgument" } });
  expect(refused.commits).toBe(false);
}, 60_000);

test("outcomes of more bytes than one result and one enqueue have are refused", async () => {
  const leases = await holding("large", world.transactions.now + 60_000);
  const finished = leases.map((lease) => ({
    ...{ ...lease, outcome: { kind: "succeeded", result: text(110_000) } },
  }));
  const { begun } = await run(mutation("lib:complete", { ...caller("large"), finished }));
  expect(begun.result).toMatchObject({ ok: false, data: { code: "payloadTooLarge" } });
}, 60_000);

test.each([
  [PLAIN, 16],
  [LISTED, 7],
])(
  "an enqueue into queue %i with %i tags and the longest options of each job; more jobs are refused",
  async (queue, tags) => {
    const jobs = many(1_000, (n) => ({
      payload: text(1_000),
      options: {
        ...{ key: { value: `key${n}`.padEnd(256, WIDE) }, runAfter: 1 + n * 50 },
        ...{ expiresAfterMs: 60_000, deadlineMs: 600_000 + n * 50, context: text(600) },
        ...{ labels: labelsOf(1), tags: many(tags, (i) => `t${i}`.padEnd(64, WIDE)) },
        ...{ name: WIDE.repeat(128), group: WIDE.repeat(128) },
        prefer: { worker: WIDE.repeat(64), labels: labelsOf(1).slice(0, 4), forMs: 60_000 },
      },
    }));
    const call = (of: number) =>
      mutation("lib:enqueue", { queue: declaration(queue), jobs: jobs.slice(0, of) });
    const { begun, used } = await run(call(550));
    expect(begun.result).toMatchObject({ ok: true });
    isUnderHalf(used);
    expect((await run(call(600))).begun.result).toMatchObject({ ok: false });
  },
  60_000,
);
