/**
 * The pairs of transactions that insert and stop scanning, and pairs that write one row: each is brought to the point where its
 * calls can conflict, and then they are begun at once. The conditions on their answers are here; the invariants of the tables are
 * in `invariants.ts`.
 */
import type { ClaimedJob } from "../../src/shared/index.js";
import { COMPONENT } from "./deployment.js";
import { must, type World } from "./world.js";

/** Longer than the retries of all conflicts, and shorter than a lease. */
const SETTLED_MS = 3_000;

export type Pair = (world: World) => Promise<void>;

/** Nothing is leased when the sweep begins, and something when it ends. */
const claimAndDisarm: Pair = async (world) => {
  await world.enqueue(2);
  const first = world.session("first");
  await first.complete(await first.claimed());
  await world.untilSweep();
  const second = world.session("second");
  await world.meet(() => second.claim());
  await world.sleep(SETTLED_MS);
};

const beatAndExpire: Pair = async (world) => {
  const [id] = await world.enqueue();
  const worker = world.session("worker");
  const jobs = await worker.claimed();
  await world.untilSweep();
  let answer: string | undefined;
  await world.meet(async () => ([answer] = await worker.beat(jobs)));
  await world.sleep(SETTLED_MS);
  const { status } = await jobOf(world, id!);
  if (answer === "ok") must(status === "running", "a renewed lease was ended");
  else must(status === "pending", "a lost lease stands");
};

const completeAndExpire: Pair = async (world) => {
  const [id] = await world.enqueue();
  const worker = world.session("worker");
  const jobs = await worker.claimed();
  await world.untilSweep();
  let answer: string | undefined;
  await world.meet(async () => ([answer] = (await worker.complete(jobs)).answers));
  await world.sleep(SETTLED_MS);
  const { status } = await jobOf(world, id!);
  if (answer === "ok") must(status === "succeeded", "a recorded outcome was undone");
  else must(status === "pending", "a refused outcome was recorded");
};

/** The session has lost the job and gets it again, while its word about the lost attempt is still under way. */
const lateWordAndClaim: Pair = async (world) => {
  await world.enqueue();
  const worker = world.session("worker");
  const lost = await worker.claimed();
  await world.untilSweep();
  await world.sleep(SETTLED_MS);
  await world.meet(
    () => worker.claim(),
    async () => must((await worker.beat(lost))[0] === "leaseLost", "a lost attempt was renewed"),
  );
  const { answers } = await worker.complete(lost);
  must(answers[0] === "leaseLost", "a lost attempt was recorded");
};

const claimAndClaim: Pair = async (world) => {
  await world.enqueue(3);
  await world.sleep(SETTLED_MS);
  const taken: ClaimedJob[] = [];
  await world.meet(
    ...["a", "b", "c"].map((name) => async () => {
      taken.push(...(await world.session(name).claim(2)));
    }),
  );
  const ids = new Set(taken.map(({ id }) => id));
  must(ids.size === taken.length, "a job was handed out twice");
};

const claimAndCancel: Pair = async (world) => {
  const [id] = await world.enqueue();
  let canceled = false;
  let claimed: ClaimedJob[] = [];
  await world.meet(
    async () => (claimed = await world.session("worker").claim()),
    async () => (canceled = await world.cancel(id!)),
  );
  must(!canceled || claimed.length === 0, "a canceled job was handed out");
};

const retryAndRetry: Pair = async (world) => {
  const [id] = await world.enqueue();
  const worker = world.session("worker");
  await worker.complete(await worker.claimed());
  const retried: boolean[] = [];
  await world.meet(
    async () => retried.push(await world.retry(id!)),
    async () => retried.push(await world.retry(id!)),
    () => world.session("other").claim(),
  );
  must(retried.filter((one) => one).length === 1, "both retried, or neither");
};

/** Two plans of one try, the try itself, and a retry of the job with the owed outcome. */
const planAndAttempt: Pair = async (world) => {
  const [id] = await world.enqueue();
  const worker = world.session("worker");
  const jobs = await worker.claimed();
  await world.call("", "app:fail");
  await worker.complete(jobs);
  await world.call("", "app:mend");
  const [owed] = await world.rows("callbacks");
  const args = { id: owed!._id, tries: 0 };
  await world.meet(
    () => world.call(COMPONENT, "edges/callbacks:planCallback", args),
    () => world.call(COMPONENT, "edges/callbacks:planCallback", args),
    () => world.call(COMPONENT, "edges/callbacks:tryCallback", { id: owed!._id }),
    () => world.retry(id!),
  );
};

/** At a sweep that publishes, so that its cursors, the claim's and the subscription's conflict with the enqueue. */
const enqueueAndLook: Pair = async (world) => {
  await world.enqueue();
  const busy = world.session("busy");
  const jobs = await busy.claimed();
  await world.sleep(3_000);
  await busy.beat(jobs);
  await world.untilSweep();
  const idle = world.session("idle");
  await world.meet(
    () => world.enqueue(2),
    () => world.enqueue(),
    () => idle.claim(),
    () => world.hasWork(),
    () => busy.beat(jobs),
  );
  await idle.claim(8);
  await world.sleep(SETTLED_MS);
};

const tendsAndSweep: Pair = async (world) => {
  const [id] = await world.enqueue();
  const silent = world.session("silent");
  await silent.beat(await silent.claimed());
  await world.untilSweep();
  const others = ["a", "b"].map((name) => world.session(name));
  const taken: ClaimedJob[] = [];
  await world.meet(
    ...others.map((one) => async () => {
      await one.tend();
      taken.push(...(await one.claim()));
    }),
  );
  await world.sleep(SETTLED_MS);
  must(taken.length <= 1, "a job was handed out twice");
  must((await jobOf(world, id!))["resets"] === 1, "a lost lease was not reset once");
};

/** Claims that overlap where there is no timer insert one each; their sweeps are due together. */
const sweepAndSweep: Pair = async (world) => {
  // So many jobs and shards that claims seldom conflict: a claim that retries sees the timer of the other.
  world.queue = { ...world.queue, config: { ...world.queue.config, shards: 8 } };
  await world.enqueue(24);
  await world.sleep(SETTLED_MS);
  const workers = ["a", "b", "c"].map((name) => world.session(name));
  const beats: (() => Promise<unknown>)[] = [];
  let leased = 0;
  await Promise.all(
    workers.map(async (worker) => {
      const jobs = await worker.claim();
      leased += jobs.length;
      beats.push(() => worker.beat(jobs));
    }),
  );
  // All three may take the jobs' shards for another's: then there is nothing to sweep in this round.
  if (leased === 0) return;
  await world.sleep(5_000);
  for (const beat of beats) await beat();
  await world.untilSweep();
  await world.sleep(SETTLED_MS);
};

async function jobOf(world: World, id: string) {
  return (await world.rows("jobs")).find((job) => job._id === id)!;
}

export const PAIRS = {
  "claim and the sweep that disarms": claimAndDisarm,
  "beat and the sweep that expires its session": beatAndExpire,
  "complete and the sweep that expires its session": completeAndExpire,
  "late words of a lost attempt and the claim of the next": lateWordAndClaim,
  "claim and claim of the same jobs": claimAndClaim,
  "claim and cancel": claimAndCancel,
  "retry and retry": retryAndRetry,
  "callback: plan, try, and a retry of the job": planAndAttempt,
  "enqueue and calls that find nothing": enqueueAndLook,
  "calls that tend and the janitor's sweep": tendsAndSweep,
  "two sweeps of two timers": sweepAndSweep,
} as const satisfies Record<string, Pair>;
export type PairName = keyof typeof PAIRS;
