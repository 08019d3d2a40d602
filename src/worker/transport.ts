/** What a worker says to its deployment, as calls. The protocol's rules live on this side of it, the wire on the other. */
import type { Answer, ClaimedJob, Finished, Lease, ProgressUpdate } from "../shared/index.js";

export interface ClaimRequest {
  max: number;
  cursor?: string;
}

export interface CompleteOptions {
  claim?: ClaimRequest;
  /** Nobody is told in the same transaction: the outcome must not wait for a callback that cannot commit. */
  deferCallbacks?: boolean;
}

export interface Claimed {
  jobs: ClaimedJob[];
  cursor?: string;
}

/** An outcome with its job's queue, which names the validator of the result. */
export type Report = Finished & { queue: string };

/**
 * Every promise settles within the transport's own timeout. It rejects with {@link Unanswered} when nobody knows
 * whether the call took effect, and with anything else when it certainly did not.
 */
export interface Transport {
  claim(n: number, claim: ClaimRequest): Promise<Claimed>;
  complete(
    n: number,
    finished: Report[],
    options?: CompleteOptions,
  ): Promise<Claimed & { answers: Answer[] }>;
  heartbeat(leases: Lease[]): Promise<Answer[]>;
  report(said: { updates: ProgressUpdate[] }): Promise<Answer[]>;
  /** Follows whether there is work. `onError` may be called any number of times. */
  watchHasWork(onValue: (hasWork: boolean) => void, onError: (error: unknown) => void): () => void;
  close(): Promise<void>;
}

/** A call whose fate is unknown: no connection, no answer in time, or one from somebody on the way. */
export class Unanswered extends Error {
  override readonly name = "Unanswered";
}
