/** Jobs that are canceled while they run, or before they do. */
import { must } from "../../races/world.js";
import { UNVALIDATED, type Pair } from "../pair.js";
import { Worker, type BeatReply, type ClaimReply, type CompleteReply } from "../worker.js";

interface CancelReply {
  canceled: boolean;
  requested: boolean;
  status: string;
}

const replaceAndClaim: Pair = {
  of: "a replacement, and a claim of the job that is to go",
  orders: 12,
  async setUp(line) {
    const [id] = await line.enqueue();
    return {
      calls: { claim: new Worker(line, "worker").claims(), replace: line.replaces(id!) },
      check(answers, line) {
        const { replaced } = answers.of<{ replaced: boolean }>("replace");
        const { jobs } = answers.of<ClaimReply>("claim");
        must(!replaced || jobs.every((job) => job.id !== id), "a replaced job was handed out");
        must(
          line.rows("jobs").length === (replaced ? 2 : 1),
          "there is another, and none has gone",
        );
      },
    };
  },
  mutants: [
    {
      without: "the check whether the job has begun",
      changes: [{ in: "replace.ts:replace", condition: "mayMove", is: false }],
      finds: /^(replace is refused|a replaced job was handed out)/,
    },
    UNVALIDATED,
  ],
};

const cancelAndComplete: Pair = {
  of: "a cancel of a running job, and its completion",
  orders: 11,
  async setUp(line) {
    const [id] = await line.enqueue();
    const worker = new Worker(line, "worker");
    const jobs = await worker.claim();
    return {
      calls: { cancel: line.cancels(id!), complete: worker.completes(jobs) },
      check(answers, line) {
        const { requested, status } = answers.of<CancelReply>("cancel");
        const { answer } = answers.of<CompleteReply>("complete").answers[0]!;
        must(
          answer === "ok" && line.job(id!).status === "succeeded",
          "an outcome was not recorded",
        );
        must(requested === (status === "running"), "it was asked to end, and had ended");
        must(line.rows("cancels").length === 0, "an ended job is still asked to end");
      },
    };
  },
  mutants: [UNVALIDATED],
};

// Rules out D29.
const cancelAndBeat: Pair = {
  of: "a cancel of a running job, a beat of its worker, and that worker's subscription",
  orders: 90,
  async setUp(line) {
    const [id] = await line.enqueue();
    const worker = new Worker(line, "worker");
    const jobs = await worker.claim();
    return {
      calls: {
        cancel: line.cancels(id!),
        beat: worker.beats(jobs),
        watch: line.cancellations("session-worker"),
      },
      check(answers, line) {
        must(answers.of<CancelReply>("cancel").requested, "no worker was asked");
        const { answer } = answers.of<BeatReply>("beat").answers[0]!;
        const late = answers.isBefore("cancel", "beat");
        must(answer === "ok" || late, "a beat says canceled before any cancel");
        must(line.rows("cancels").length === 1, "the worker is not asked, or twice");
      },
    };
  },
  mutants: [
    {
      without: "the row that asks the worker",
      changes: [{ in: "cancels.ts:askToStop", without: "db.insert" }],
      finds: /^the worker is not asked/,
    },
  ],
};

export const CANCELS: readonly Pair[] = [replaceAndClaim, cancelAndComplete, cancelAndBeat];
