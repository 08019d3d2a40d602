/**
 * Asks, before work is begun, whether jobs that a *repeated* call brought are still held, or a call that took half a lease.
 *
 * The copy that took effect may have been the first, sent a minute ago, or the last: their leases may be nearly over or
 * quite new, and only a beat tells. Without it, new leases would be taken for dead and their attempts wasted.
 */
import type { ClaimedJob } from "../shared/index.js";
import type { Clock } from "./clock.js";
import type { Transport } from "./transport.js";

export interface Confirmed {
  job: ClaimedJob;
  sentAt: number;
  /** Its cancellation was requested before it began. */
  isCanceled?: boolean;
}

export async function confirmLeases(
  { clock, transport }: { clock: Clock; transport: Transport },
  jobs: readonly ClaimedJob[],
  { sentAt: firstSentAt, repeats }: { sentAt: number; repeats: number },
): Promise<Confirmed[]> {
  const sentAt = clock.now();
  const isSoon = jobs.every(({ leaseMs }) => sentAt - firstSentAt < leaseMs / 2);
  if (repeats === 0 && isSoon) return jobs.map((job) => ({ job, sentAt: firstSentAt }));
  try {
    const { answers } = await transport.heartbeat(jobs.map(({ id, attempt }) => ({ id, attempt })));
    return jobs.flatMap((job, i) => {
      const answer = answers[i]?.answer;
      if (answer === "ok") return [{ job, sentAt }];
      return answer === "canceled" ? [{ job, sentAt, isCanceled: true }] : [];
    });
  } catch {
    // Then the oldest copy is the safe assumption: a job with a lease that is over by it is given back at once.
    return jobs.map((job) => ({ job, sentAt: firstSentAt }));
  }
}
