/** Leases and the sweeps that watch over them. */
import type { ClaimedJob } from "../../../src/shared/index.js";
import { must } from "../../races/world.js";
import { UNVALIDATED, type Mutant, type Pair } from "../pair.js";
import { tends, Worker, type BeatReply, type ClaimReply, type CompleteReply } from "../worker.js";
import type { Line } from "../line.js";
import type { Call } from "../transactions.js";

const NO_READ_OF_SESSIONS: Mutant = {
  without: "the real read of the sessions before a sweep arms its next, or goes",
  changes: [
    { in: "janitor.ts:nextSweepAt", value: "next", is: "seen" },
    { in: "janitor.ts:nextSweepAt", from: "RANGE_ROWS", to: "0" },
  ],
  finds: /^leased/,
};
const NO_READ_OF_TIMER: Mutant = {
  without: "the real read of the timer on which a claim relies",
  changes: [{ in: "timers.ts:ensureJanitor", begins: "if (seen != null) return;" }],
  finds: /^leased/,
};
const NO_SECOND_LOOK: Mutant = {
  without: "the second check whether the session has expired",
  changes: [
    { in: "lostLeases.ts:expireSession", condition: "expiresAt", is: false },
    { in: "lostLeases.ts:isGone", returns: "true" },
  ],
  finds: /^(a renewed lease was ended|a recorded outcome was undone)/,
};
/** Nothing is leased, and the sweep that finds so is due: a claim of the last job comes beside it. */
async function beforeDisarming(line: Line): Promise<Call> {
  await line.enqueue(2);
  const first = new Worker(line, "first");
  await first.complete(await first.claim());
  await line.untilSweep();
  return new Worker(line, "second").claims();
}

/** Nothing is leased when the sweep begins, and something when it ends. */
const claimAndDisarm: Pair = {
  of: "a claim, and the sweep that disarms",
  orders: 24,
  async setUp(line) {
    return { calls: { claim: await beforeDisarming(line) } };
  },
  mutants: [NO_READ_OF_SESSIONS, NO_READ_OF_TIMER],
};

/** A long lease is held, and the next sweep would be for its end. */
const shorterClaimAndArm: Pair = {
  of: "a claim with a shorter lease, and the sweep that arms its next for a longer one",
  orders: 24,
  async setUp(line) {
    const short = line.declare("short", { leaseMs: 3_000 });
    await line.enqueue();
    await line.do(line.enqueues(1, short));
    const long = new Worker(line, "long");
    const jobs = await long.claim();
    await line.pass(5_000);
    await line.do(long.beats(jobs));
    await line.untilSweep();
    return { calls: { claim: new Worker(line, "short").claims(1, [short]) } };
  },
  mutants: [NO_READ_OF_SESSIONS, NO_READ_OF_TIMER],
};

/** Claims that overlap where there is no timer insert one each, and their sweeps are due together. */
async function twoTimers(line: Line): Promise<[Worker, ClaimedJob[]][]> {
  const other = line.declare("other", {});
  await line.enqueue(2);
  await line.do(line.enqueues(1, other));
  const workers = [new Worker(line, "a"), new Worker(line, "b")] as const;
  const replies = await line.meet(workers[0].claims(), workers[1].claims(1, [other]));
  must(line.rows("timers").length === 2, "the claims saw each other's timer");
  return workers.map((worker, i) => [worker, (replies[i] as ClaimReply).jobs]);
}

/** The last lease ends while both sweeps are due: one may go for good, and the other leave it to that one. */
const sweepsAndClaim: Pair = {
  of: "a sweep that leaves it to another's timer, that other's sweep, and a claim",
  orders: 864,
  async setUp(line) {
    const [a, b] = await twoTimers(line);
    // More than half of its lease, so that the beat moves its end.
    await line.pass(6_000);
    await line.do(a![0].beats(a![1]));
    await line.do(b![0].completes(b![1]));
    await line.untilSweep();
    return { calls: { claim: new Worker(line, "c").claims() } };
  },
  mutants: [
    {
      without: "the real read of the timer to which another leaves it, and an order among them",
      changes: [
        { in: "timers.ts:isServed", from: "other.id < timer._id", to: "other.id !== timer._id" },
        { in: "timers.ts:isServed", call: "db.get", gives: "before" },
      ],
      finds: /^leased without a timer/,
    },
  ],
};

// Rules out D23.
const beatAndExpire: Pair = {
  of: "a beat, and the sweep that ends its session's leases",
  orders: 12,
  async setUp(line) {
    const [id] = await line.enqueue();
    const worker = new Worker(line, "worker");
    const jobs = await worker.claim();
    await line.untilSweep();
    return {
      calls: { beat: worker.beats(jobs) },
      check(answers, line) {
        const { answer } = answers.of<BeatReply>("beat").answers[0]!;
        const { status } = line.job(id!);
        if (answer === "ok") must(status === "running", "a renewed lease was ended");
        else must(status === "pending", "a lost lease stands");
      },
    };
  },
  mutants: [NO_SECOND_LOOK, UNVALIDATED],
};

const completeAndExpire: Pair = {
  of: "a completion, and the sweep that ends its session's leases",
  orders: 12,
  async setUp(line) {
    const [done, kept] = await line.enqueue(2);
    const worker = new Worker(line, "worker");
    const jobs = await worker.claim(2);
    await line.untilSweep();
    return {
      calls: { complete: worker.completes(jobs.slice(0, 1)) },
      check(answers, line) {
        const { answer } = answers.of<CompleteReply>("complete").answers[0]!;
        const ok = answer === "ok";
        const { status } = line.job(done!);
        must(ok || status !== "succeeded", "a refused outcome was recorded");
        must(!ok || status === "succeeded", "a recorded outcome was undone");
        must(!ok || line.job(kept!).status === "running", "a renewed lease was ended");
      },
    };
  },
  mutants: [NO_SECOND_LOOK, UNVALIDATED],
};

// Shows WP-26.
// Rules out D22.
/** The session has lost the job and gets it again, while its words about the lost attempt are still on their way. */
const lateWordsAndClaim: Pair = {
  of: "late words of a lost attempt, and the claim of the next",
  orders: 12,
  async setUp(line) {
    await line.enqueue();
    const worker = new Worker(line, "worker");
    const lost = await worker.claim();
    await line.untilSweep();
    await line.pass(1_000);
    return {
      calls: { claim: worker.claims(), beat: worker.beats(lost) },
      async check(answers, line) {
        must(lateAnswer(answers.of("beat")) === "leaseLost", "a lost attempt was renewed");
        const late = await line.do<CompleteReply>(worker.completes(lost));
        must(lateAnswer(late) === "leaseLost", "a lost attempt was recorded");
      },
    };
  },
  mutants: [
    {
      without: "fencing by attempt",
      changes: [{ in: "sessions.ts:findLease", condition: "attempt", is: true }],
      finds: /^a lost attempt was renewed/,
    },
  ],
};

function lateAnswer({ answers }: BeatReply | CompleteReply): string {
  return answers[0]!.answer;
}

/** The sweep is late, and comes all the same. */
const tendAndSweep: Pair = {
  of: "a call that tends, and the sweep that ends the same leases",
  orders: 22,
  async setUp(line) {
    const [id] = await line.enqueue();
    const silent = new Worker(line, "silent");
    await line.do(silent.beats(await silent.claim()));
    await line.untilSweep();
    return {
      calls: { tend: tends() },
      check(_, line) {
        must(line.job(id!)["resets"] === 1, "a lost lease was not reset once");
      },
    };
  },
  mutants: [UNVALIDATED],
};

/** Nothing is leased when the call begins, and something when it ends. */
const claimAndTend: Pair = {
  of: "a claim, and a call that tends and disarms",
  orders: 24,
  async setUp(line) {
    return { calls: { claim: await beforeDisarming(line), tend: tends() } };
  },
  mutants: [NO_READ_OF_SESSIONS, NO_READ_OF_TIMER],
};

/** The session has beaten since the snapshot in which its leases were over. */
const beatAndTend: Pair = {
  of: "a beat, and a call that tends",
  orders: 24,
  async setUp(line) {
    const [id] = await line.enqueue();
    const silent = new Worker(line, "silent");
    const jobs = await silent.claim();
    await line.do(silent.beats(jobs));
    await line.untilSweep();
    return {
      calls: { beat: silent.beats(jobs), tend: tends() },
      check(answers, line) {
        const isKept = lateAnswer(answers.of<BeatReply>("beat")) === "ok";
        must(isKept === (line.job(id!)["status"] === "running"), "a renewed lease was ended");
      },
    };
  },
  mutants: [NO_SECOND_LOOK],
};

export const LEASES: readonly Pair[] = [
  claimAndDisarm,
  shorterClaimAndArm,
  sweepsAndClaim,
  beatAndExpire,
  completeAndExpire,
  lateWordsAndClaim,
  tendAndSweep,
  claimAndTend,
  beatAndTend,
];
