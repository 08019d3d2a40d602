/** Claims, rival claims of the same jobs, and jobs that a claim must not pass by. */
import { must } from "../../races/world.js";
import { UNVALIDATED, type Mutant, type Pair } from "../pair.js";
import { mutation } from "../line.js";
import { Worker, type ClaimReply, type CompleteReply } from "../worker.js";

const NO_SECOND_LOOK: Mutant = {
  without: "the real read of a job before it is taken",
  changes: [
    { in: "leaseBatch.ts:take", condition: "isClaimable", is: false },
    { in: "leaseBatch.ts:take", condition: "job seq", is: false },
    { in: "mayTake.ts:mayTake", condition: "isClaimable", is: false },
  ],
  finds: /is refused: .*cannot claim/,
};

// Shows LF-10, C2.
const claimAndClaim: Pair = {
  of: "two claims of the same jobs",
  orders: 24,
  async setUp(line) {
    await line.enqueue(2);
    return {
      calls: { a: new Worker(line, "a").claims(2), b: new Worker(line, "b").claims(2) },
      check(answers) {
        const taken = ["a", "b"].flatMap((name) => answers.of<ClaimReply>(name).jobs);
        must(
          new Set(taken.map(({ id }) => id)).size === taken.length,
          "a job was handed out twice",
        );
      },
    };
  },
  mutants: [NO_SECOND_LOOK, UNVALIDATED],
};

// Shows DE-14, F15.
const claimAndCancel: Pair = {
  of: "a claim, and a cancel of the same job",
  orders: 12,
  async setUp(line) {
    const [id] = await line.enqueue();
    return {
      calls: { claim: new Worker(line, "worker").claims(), cancel: line.cancels(id!) },
      check(answers) {
        const { canceled } = answers.of<{ canceled: boolean }>("cancel");
        const { jobs } = answers.of<ClaimReply>("claim");
        must(!canceled || jobs.length === 0, "a canceled job was handed out");
        must(canceled || jobs.length === 1, "it was neither canceled nor handed out");
      },
    };
  },
  mutants: [
    NO_SECOND_LOOK,
    {
      without: "the second check whether the job has begun",
      changes: [{ in: "cancel.ts:cancelJob", condition: "isCancelable", is: true }],
      finds: /cancel is refused/,
    },
    UNVALIDATED,
  ],
};

// Shows LF-08.
const claimAndLeave: Pair = {
  of: "a claim for the groups that the app answers, and the app's change of them",
  orders: 6,
  async setUp(line) {
    await line.enqueueOne({ group: "a" });
    await line.app("join", { group: "a" });
    const groupsOf = await line.app<string>("groupsHandle");
    const made = mutation("operate:createToken", { name: "laptop", groups: "byQuery" });
    const { token } = await line.do<{ token: string }>(made);
    const claim = new Worker(line, "worker").claims();
    return {
      calls: {
        claim: { ...claim, args: { ...claim.args, token, groupsOf } },
        leave: { ...mutation("app:leave"), namespace: "" },
      },
      check(answers) {
        const { jobs } = answers.of<ClaimReply>("claim");
        const hasLeft = answers.isBefore("leave", "claim");
        must(jobs.length === (hasLeft ? 0 : 1), "a claim had jobs of other groups than its own");
      },
    };
  },
  mutants: [
    {
      without: "the real read of the app's answer",
      changes: [
        {
          in: "tokens.ts:askApp",
          call: "ctx.runQuery",
          gives: "await ctx.runQuery(query, { id, name }, { useStaleSnapshot: true })",
        },
      ],
      finds: /other groups than its own/,
    },
    UNVALIDATED,
  ],
};

// Shows WP-02.
// Rules out D2.
const enqueueAndIdle: Pair = {
  of: "two enqueues, and a worker that goes idle on hasWork",
  orders: 90,
  async setUp(line) {
    await line.enqueue();
    const worker = new Worker(line, "worker");
    const jobs = await worker.claim();
    // Until a sweep has published cursors, from which hasWork begins.
    await line.pass(9_000);
    await line.do(worker.beats(jobs));
    await line.pass(2_000);
    must(line.rows("cursors").length === 1, "no cursors have been published");
    await worker.complete(jobs);
    return { calls: { hasWork: line.asks(), one: line.enqueues(), two: line.enqueues(2) } };
  },
  mutants: [
    {
      without: "reading the range in which there is nothing",
      changes: [
        {
          in: "hasWork.ts:isAnyWaiting",
          call: "newPlaceScan",
          gives: "{ ...$it, from: { seq: 1n << 62n, creationTime: 0 } }",
        },
      ],
      finds: /^a subscriber gets no update|hasWork says that there is none/,
    },
    {
      without: "a new seq for a job that comes in",
      changes: [{ in: "transitions.ts:insertJob", value: "seq", is: "1n" }],
      finds: /^a pending job below a published cursor/,
    },
  ],
};

// Shows WP-05.
// Rules out D6d.
const claimAndEnqueue: Pair = {
  of: "a claim that passes its cursor, and an enqueue",
  orders: 12,
  async setUp(line) {
    await line.enqueue(2);
    const worker = new Worker(line, "worker");
    await worker.claim();
    return { calls: { claim: worker.claims(2), enqueue: line.enqueues(2) } };
  },
  mutants: [
    {
      without: "the snapshot's own timestamp as the end of a claim's scan",
      changes: [
        {
          in: "scan.ts:endOf",
          call: "afterCommit",
          gives: "afterCommit(BigInt(Date.now() + 1) * 1_000_000n)",
        },
      ],
      finds: /^a pending job below a returned cursor/,
    },
  ],
};

/** All rows of a transaction have one `seq`: the cursor of a claim that took the first must not pass the rest. */
const claimsAndTies: Pair = {
  of: "a claim that goes on within a batch, and a claim of another",
  orders: 24,
  async setUp(line) {
    await line.enqueue(3);
    const worker = new Worker(line, "worker");
    await worker.claim();
    return { calls: { claim: worker.claims(), other: new Worker(line, "other").claims() } };
  },
  mutants: [
    {
      without: "the creation time in a cursor",
      changes: [
        {
          in: "nextCursor.ts:deadBelow",
          from: "below = row.key",
          to: "below = { seq: row.key.seq + 1n, creationTime: 0 }",
        },
      ],
      finds: /^a pending job below a returned cursor/,
    },
  ],
};

// Rules out D6b.
const claimAndRelease: Pair = {
  of: "a claim that passes its cursor, and a release of a job that it has passed",
  orders: 12,
  async setUp(line) {
    await line.enqueue(2);
    const giver = new Worker(line, "giver");
    const jobs = await giver.claim();
    const outcome = { kind: "released" } as const;
    return {
      calls: {
        claim: new Worker(line, "taker").claims(),
        release: giver.completes(jobs, { outcome }),
      },
      check(answers) {
        const { answer } = answers.of<CompleteReply>("release").answers[0]!;
        must(answer === "ok", "a release was refused");
      },
    };
  },
  mutants: [
    {
      without: "a new seq for a job that comes back",
      changes: [
        {
          in: "transitions.ts:move",
          value: "seq",
          is: `edge === "release" ? job.seq : db.vars.commitTs`,
        },
      ],
      finds: /^a pending job below a returned cursor/,
    },
  ],
};

export const CLAIMS: readonly Pair[] = [
  claimAndClaim,
  claimAndCancel,
  claimAndLeave,
  enqueueAndIdle,
  claimAndEnqueue,
  claimsAndTies,
  claimAndRelease,
];
