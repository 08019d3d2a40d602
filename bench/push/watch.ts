/**
 * What a run says of its jobs: their functions log when they begin and end, and callers' mutations what they brought in.
 * Nothing of it is a call or a write, so that no alternative pays for being watched.
 */
import type { Core } from "../../local/backend.js";

export interface Watched {
  /** When the mutation had committed that brought the job in. */
  enqueued: Map<number, number>;
  began: Map<number, number>;
  ended: Map<number, number>;
  /** Jobs that began more than once. */
  again: number;
}

export function watchJobs(runner: Core["runner"]): Watched {
  const watched: Watched = {
    enqueued: new Map(),
    began: new Map(),
    ended: new Map(),
    again: 0,
  };
  runner.onCompletion(({ logs, startedAt, durationMs, error }) => {
    for (const { text, at } of logs) {
      const [, what, from, to] = /(enqueued|began|ended) (\d+)(?:\.\.(\d+))?/.exec(text) ?? [];
      if (what === undefined) continue;
      if (what === "enqueued") {
        if (error !== undefined) continue;
        const committedAt = startedAt + durationMs;
        for (let n = Number(from); n <= Number(to ?? from); n++)
          watched.enqueued.set(n, committedAt);
      } else if (what === "began") {
        if (watched.began.has(Number(from))) watched.again += 1;
        watched.began.set(Number(from), at);
      } else watched.ended.set(Number(from), at);
    }
  });
  return watched;
}

/** The most that ran at one time. */
export function mostAtOnce({ began, ended }: Watched): number {
  const changes = [
    ...[...began.values()].map((at) => ({ at, by: 1 })),
    ...[...ended.values()].map((at) => ({ at, by: -1 })),
  ].sort((a, b) => a.at - b.at || a.by - b.by);
  let [now, most] = [0, 0];
  for (const { by } of changes) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}
