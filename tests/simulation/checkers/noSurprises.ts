import type { Checker } from "../part.js";
import { changed } from "./jobs.js";

/** Documented error codes, by function called. */
const REFUSALS: Record<string, readonly string[]> = {
  enqueue: ["duplicateKey", "queueDraining"],
  enqueueBatch: ["duplicateKey", "queueDraining"],
  replace: ["unknownJob", "duplicateKey", "queueDraining"],
  cancel: ["unknownJob"],
  retry: ["unknownJob"],
  handle: ["unknownJob"],
  operate: ["unknownQueue"],
  configure: [],
  changeMany: ["unknownQueue"],
};
/** The platform's messages for calls on a lost machine, or for commits that could not be kept. */
const MISHAPS =
  /fetch failed|network|socket|ECONN|timed? ?out|Transient|conflict|changed while|OptimisticConcurrency|overload|too many|aborted|restart|unavailable|lost|closed|terminated|503|500|The backend/i;
/** It tells the app, which may be broken. */
const MAY_FAIL = /^edges\/callbacks\.js:tryCallback$/;
/** Events of workers that tell of a bug of theirs. */
const CRASHES = ["crashed"];

export const noSurprises: Checker = {
  name: "no surprises",
  promise:
    "callers get documented errors only; no scheduled mutation of the component fails by itself; no worker crashes",
  marks: ["a caller is refused", "a caller hears of a mishap", "a lane is lost"],
  watch({ broken, happened }) {
    return {
      answered({ what, args, error }) {
        if (error === undefined || args.throws === true) return;
        const refusal = (REFUSALS[what] ?? []).find((code) => error.includes(`"${code}"`));
        if (refusal !== undefined) happened("a caller is refused");
        else if (MISHAPS.test(error)) happened("a caller hears of a mishap");
        else broken(`${what} was refused: ${error.slice(0, 300)}`);
      },
      commit(commit) {
        for (const { after } of changed(commit, "_scheduled_functions")) {
          if (after === null || after["state"].kind !== "failed") continue;
          const { name, state } = after;
          const isAction = /^(push\/laneAction|handlers)/.test(name as string);
          if (isAction) happened("a lane is lost");
          if (isAction ? MISHAPS.test(state.error) : MAY_FAIL.test(name)) continue;
          broken(`${name as string} failed: ${String(state.error).slice(0, 300)}`);
        }
      },
      printed(worker, line) {
        const { kind, error } = line as { kind?: string; error?: unknown };
        if (CRASHES.includes(kind ?? "")) broken(`${worker} has crashed: ${String(error)}`);
      },
    };
  },
};
