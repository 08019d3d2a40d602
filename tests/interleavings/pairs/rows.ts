/** Rows of the app's own table as jobs: they are inserted, announced, claimed, changed, deleted and recorded. */
import { must } from "../../races/world.js";
import type { Line } from "../line.js";
import { UNVALIDATED, type Meeting, type Mutant, type Pair } from "../pair.js";
import { inserted, isAnnounced, jobsOf, notes, restOfRows, rowOf, RowWorker } from "../rows.js";
import type { BeatReply, ClaimReply, CompleteReply } from "../worker.js";

const NO_REAL_END: Mutant = {
  without: "the real read of the index up to its end, before no more rows are said to wait",
  changes: [{ in: "rowClaims.ts:rowsOf", condition: "announced seen.all", nth: 1, is: false }],
  finds: /no worker is told/,
};
const NO_REAL_ROW: Mutant = {
  without: "the real read of the rows that a claim offers",
  changes: [{ in: "rowClaims.ts:rowsOf", condition: "mayOffer", is: true }],
  finds: /was handed out|a job was made of/,
};
const NO_KEY: Mutant = {
  without: "the check whether the row has an active job",
  changes: [{ in: "tableRows.ts:takeSome", condition: "found.owner", is: false }],
  finds: /^a row had two ends/,
};

/** A row that runs, and its worker. */
async function running(line: Line): Promise<{
  row: string;
  worker: RowWorker;
  complete: Meeting["calls"][string];
  jobs: Awaited<ReturnType<RowWorker["claim"]>>;
}> {
  const row = await inserted(line);
  const worker = new RowWorker(line, "worker");
  const jobs = await worker.claim();
  return { row, worker, jobs, complete: worker.completes(jobs) };
}

const rowsOf = (reply: ClaimReply) =>
  reply.jobs.map(({ payload }) => (payload as { _id: string })._id);

const insertAndClaim: Pair = {
  of: "an insert of a row with its announcement, and a claim that finds no more rows",
  orders: 12,
  async setUp(line) {
    const first = await inserted(line);
    return {
      calls: { claim: new RowWorker(line, "worker").claims(2), insert: notes("insert") },
      check(answers, line) {
        const row = answers.of<string>("insert");
        const taken = rowsOf(answers.of<ClaimReply>("claim"));
        must(taken.includes(first), "a row was passed by");
        must(taken.includes(row) || isAnnounced(line), "a row waits, and no worker is told");
      },
      rest: restOfRows,
    };
  },
  mutants: [NO_REAL_END, UNVALIDATED],
};

const pingAndClaim: Pair = {
  of: "an announcement, and a claim that leaves a row",
  orders: 12,
  async setUp(line) {
    for (let i = 0; i < 2; i += 1) await inserted(line, { silent: true });
    return {
      calls: { claim: new RowWorker(line, "worker").claims(), ping: notes("ping") },
      check(answers, line) {
        must(answers.of<ClaimReply>("claim").jobs.length === 1, "a row was passed by");
        must(isAnnounced(line), "a row waits, and no worker is told");
      },
      rest: restOfRows,
    };
  },
  mutants: [
    {
      without: "taking an announcement back only where a claim has read all rows",
      changes: [{ in: "tableRows.ts:takeRows", condition: "all left", nth: 1, is: true }],
      finds: /^a row waits, and no worker is told/,
    },
  ],
};

const firstAnnouncements: Pair = {
  of: "two announcements, the first ones of a queue",
  orders: 6,
  setUp() {
    return Promise.resolve({
      calls: { a: notes("insert"), b: notes("insert") },
      check(_, line) {
        must(line.rows("announced").length === 1, "a queue has two rows of announcements");
      },
      rest: restOfRows,
    });
  },
  mutants: [UNVALIDATED],
};

const claimAndClaim: Pair = {
  of: "two claims of the same row of the app's",
  orders: 24,
  async setUp(line) {
    const row = await inserted(line);
    return {
      calls: { a: new RowWorker(line, "a").claims(), b: new RowWorker(line, "b").claims() },
      check(answers, line) {
        const taken = ["a", "b"].flatMap((name) => rowsOf(answers.of<ClaimReply>(name)));
        must(taken.length === 1 && taken[0] === row, "a row was handed out twice, or not at all");
        must(jobsOf(line, row).length === 1, "a row has two jobs");
      },
      rest: restOfRows,
    };
  },
  mutants: [UNVALIDATED],
};

const claimAndDelete: Pair = {
  of: "a claim of a row, and its deletion",
  orders: 12,
  async setUp(line) {
    const row = await inserted(line);
    return {
      calls: {
        claim: new RowWorker(line, "worker").claims(),
        remove: notes("remove", { id: row }),
      },
      check(answers, line) {
        const taken = rowsOf(answers.of<ClaimReply>("claim"));
        const isGone = answers.isBefore("remove", "claim");
        must(taken.length === (isGone ? 0 : 1), "a row that is gone was handed out, or none was");
        must(!isGone || jobsOf(line, row).length === 0, "a job was made of a row that is gone");
      },
      rest: restOfRows,
    };
  },
  mutants: [NO_REAL_ROW, UNVALIDATED],
};

const claimAndWithdraw: Pair = {
  of: "a claim of a row, and the app's change of its state",
  orders: 12,
  async setUp(line) {
    const row = await inserted(line);
    return {
      calls: {
        claim: new RowWorker(line, "worker").claims(),
        change: notes("patch", { id: row, change: { status: "archived" } }),
      },
      check(answers, line) {
        const taken = rowsOf(answers.of<ClaimReply>("claim"));
        const isGone = answers.isBefore("change", "claim");
        must(
          taken.length === (isGone ? 0 : 1),
          "a row that does not wait was handed out, or none was",
        );
        must(rowOf(line, row)!.status === "archived", "the app's state was overwritten");
      },
      rest: restOfRows,
    };
  },
  mutants: [NO_REAL_ROW, UNVALIDATED],
};

const claimAndStop: Pair = {
  of: "a claim of a row, and a request in it to end its job",
  orders: 12,
  async setUp(line) {
    const row = await inserted(line);
    return {
      calls: {
        claim: new RowWorker(line, "worker").claims(),
        stop: notes("patch", { id: row, change: { stop: true } }),
      },
      check(answers, line) {
        const taken = rowsOf(answers.of<ClaimReply>("claim"));
        const isAsked = answers.isBefore("stop", "claim");
        must(
          taken.length === (isAsked ? 0 : 1),
          "a row that is to end was handed out, or none was",
        );
        const { status } = rowOf(line, row)!;
        must(status === (isAsked ? "stopped" : "busy"), `the row is ${String(status)}`);
      },
      rest: restOfRows,
    };
  },
  mutants: [
    {
      without: "marking a row that asks for its end",
      changes: [{ in: "rowTable.ts:RowTable.takeRows", without: "markRunning" }],
      finds: /^the row is new/,
    },
    UNVALIDATED,
  ],
};

const claimAndAgain: Pair = {
  of: "a claim of another worker, and a row that the app makes claimable while it runs",
  orders: 12,
  async setUp(line) {
    const { row } = await running(line);
    return {
      calls: {
        claim: new RowWorker(line, "other").claims(),
        change: notes("patch", { id: row, change: { status: "new" } }),
      },
      check(answers, line) {
        must(answers.of<ClaimReply>("claim").jobs.length === 0, "a row was handed out twice");
        must(jobsOf(line, row).length === 1, "a row was handed out twice");
      },
      rest: restOfRows,
    };
  },
  mutants: [NO_KEY],
};

const cancelAndComplete: Pair = {
  of: "a request in the row to end its job, and its completion",
  orders: 6,
  async setUp(line) {
    const { row, complete } = await running(line);
    return {
      calls: { cancel: notes("patch", { id: row, change: { stop: true } }), complete },
      check(answers, line) {
        const { answer } = answers.of<CompleteReply>("complete").answers[0]!;
        must(answer === "ok", "an outcome was not recorded");
        const { status, stop, result } = rowOf(line, row)!;
        must(
          stop === true && status === "done" && result === 1,
          "a row lost what was written into it",
        );
      },
      rest: restOfRows,
    };
  },
  mutants: [UNVALIDATED],
};

const beatAndComplete: Pair = {
  of: "a beat that finds the row deleted, and the completion of its job",
  orders: 12,
  async setUp(line) {
    const { row, worker, jobs, complete } = await running(line);
    await line.do(notes("remove", { id: row }));
    return {
      calls: { beat: worker.beats(jobs), complete },
      check(answers, line) {
        const { answer } = answers.of<BeatReply>("beat").answers[0]!;
        const late = answers.isBefore("complete", "beat");
        must(answer === (late ? "leaseLost" : "canceled"), `the beat is answered ${answer}`);
        must(line.rows("cancels").length === 0, "an ended job is still asked to end");
      },
      rest: restOfRows,
    };
  },
  mutants: [
    {
      without: "the beat's look at the rows of its leases",
      changes: [{ in: "rowClaims.ts:RowClaims.cancelGone", condition: "reason", is: false }],
      finds: /^the beat is answered ok/,
    },
    UNVALIDATED,
  ],
};

const deleteAndComplete: Pair = {
  of: "a deletion that cancels the row's job, and its completion",
  orders: 11,
  async setUp(line) {
    const { row, complete } = await running(line);
    return {
      calls: { remove: notes("remove", { id: row, cancels: true }), complete },
      check(answers, line) {
        must(rowOf(line, row) === undefined, "a deleted row is there again");
        const { answer } = answers.of<CompleteReply>("complete").answers[0]!;
        must(answer === "ok", "an outcome was not recorded");
        must(line.rows("cancels").length === 0, "an ended job is still asked to end");
      },
      rest: restOfRows,
    };
  },
  mutants: [UNVALIDATED],
};

const changeAndComplete: Pair = {
  of: "the app's own change of a running row's state, and the completion of its job",
  orders: 6,
  async setUp(line) {
    const { row, complete } = await running(line);
    return {
      calls: { change: notes("patch", { id: row, change: { status: "archived" } }), complete },
      check(_, line) {
        const { status, result } = rowOf(line, row)!;
        must(status === "archived", "the app's state was overwritten");
        must(result === 1, "the results are lost");
      },
      rest: restOfRows,
    };
  },
  mutants: [
    {
      without: "the check whether the row still says that it runs",
      changes: [{ in: "rowTable.ts:RowTable.recordEnd", condition: "isOurs", is: true }],
      finds: /^the app's state was overwritten/,
    },
    UNVALIDATED,
  ],
};

const completeAndSweep: Pair = {
  of: "a completion of a row's job, and the sweep that ends its lease",
  orders: 12,
  async setUp(line) {
    const { row, complete } = await running(line);
    await line.untilSweep();
    return {
      calls: { complete },
      check(answers, line) {
        const { answer } = answers.of<CompleteReply>("complete").answers[0]!;
        const { status, result } = rowOf(line, row)!;
        const told = line.rows("told", "").length;
        const isDone = answer === "ok";
        must(
          (status === "done") === isDone && (result === 1) === isDone && (told === 1) === isDone,
          "a row's state, its results and the answer differ",
        );
        must(
          isDone || status === "busy",
          "a row's lease was ended, and it does not say that it has a job",
        );
      },
      rest: restOfRows,
    };
  },
  mutants: [
    {
      without: "recording in the transaction that ends the job",
      changes: [
        {
          in: "callbacks.ts:tell",
          call: "runMutation",
          gives: "await ctx.scheduler.runAfter(0, internal.edges.callbacks.runCallback, owed)",
        },
      ],
      finds: /^finished, with a callback neither run nor owed/,
    },
    UNVALIDATED,
  ],
};

export const ROWS: readonly Pair[] = [
  insertAndClaim,
  pingAndClaim,
  firstAnnouncements,
  claimAndClaim,
  claimAndDelete,
  claimAndWithdraw,
  claimAndStop,
  claimAndAgain,
  cancelAndComplete,
  beatAndComplete,
  deleteAndComplete,
  changeAndComplete,
  completeAndSweep,
];
