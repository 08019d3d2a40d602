/**
 * The facts of a run's jobs: their functions log when they begin and end, and callers' mutations log their enqueued
 * jobs. Nothing of it is a call or a write, so that no alternative pays for being watched.
 */
import type { Core } from "../../local/backend.js";

export interface Watched {
  /** When the mutation had committed that brought the job in. */
  enqueued: Map<number, number>;
  /** Its first attempt, */
  began: Map<number, number>;
  /** and its last. */
  ended: Map<number, number>;
  /** When its end was committed. */
  recorded: Map<number, number>;
  /** Attempts after a job's first. */
  again: number;
  /** How long actions ran, in milliseconds, all together: billed. */
  actionMs: number;
}

/** A job has begun or ended, by its worker's output. */
export function note(watched: Watched, what: "began" | "ended", n: number, at: number): void {
  if (what === "ended") watched.ended.set(n, at);
  else if (watched.began.has(n)) watched.again += 1;
  else watched.began.set(n, at);
}

/** `began 3`, `enqueued 0..99`, `ended 3 at 1700000000000`: of one line several. */
const SAID = /(enqueued|began|ended|recorded) (\d+)(?:\.\.(\d+))?(?: at (\d+))?/g;

export function watchJobs(runner: Core["runner"], recorded: Map<number, number>): Watched {
  const watched: Watched = {
    ...{ enqueued: new Map(), began: new Map(), ended: new Map() },
    ...{ recorded, again: 0, actionMs: 0 },
  };
  runner.onCompletion(({ logs, startedAt, durationMs, error, udfType }) => {
    const committedAt = startedAt + durationMs;
    if (udfType === "Action") watched.actionMs += durationMs;
    for (const { text, at: loggedAt } of logs) {
      for (const [, what, from, to, said] of text.matchAll(SAID)) {
        const n = Number(from);
        const at = said === undefined ? loggedAt : Number(said);
        if (what === "began" || what === "ended") note(watched, what, n, at);
        else if (error === undefined) {
          const commits = what === "enqueued" ? watched.enqueued : recorded;
          for (let one = n; one <= Number(to ?? n); one++) commits.set(one, committedAt);
        }
      }
    }
  });
  return watched;
}
