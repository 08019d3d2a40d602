/**
 * How the programs of both patterns work: as many loops as they have places, each with one job at a time. A loop claims
 * until nothing is left, and then waits for the subscription to say that there is work.
 *
 * Measured with the farm on class S16, 300 jobs of 20 ms in one mutation, unless it says otherwise:
 * - subscribed all the time: as many jobs/s, 3.9 calls per job instead of 3.0 with 64 workers, since the query reruns
 *   with every claim. Asking before every claim, as the text has it, costs one more way to the backend and back: 16
 *   jobs/s instead of 18 with 4 workers;
 * - mutations over the socket: 6.2 jobs/s instead of 7.8 with 1 worker, 34 instead of 39 with 64, and two documents more
 *   of the system's for each job. The program gets no conflict then: the client connects anew and sends it again;
 * - the circular queue with a poll every second: as many jobs/s, and half a second later from idle; each worker that
 *   waits calls once per second;
 * - between a claim that failed and the next (`insist`), jobs/s with 64 workers, and with 1,000 and 200 jobs: always
 *   one second 38 and 1.4; doubling from 250 ms to 10 s 38 and 3.4; from half a second to half a minute 38 and 4.9;
 *   from a second to half a minute 36 and 5.6.
 */
import { ConvexClient, ConvexHttpClient } from "convex/browser";
import type { FunctionReference } from "convex/server";
import { env, failed, insist, work, type Work } from "./work.js";

type Mutation<Reply> = FunctionReference<"mutation", "public", any, Reply>;

export interface Pattern<Job extends { work: Work }> {
  hasWork: FunctionReference<"query", "public", any, boolean>;
  /** The worker's identity, in every call. */
  caller: Record<string, string>;
  claim: Mutation<Job | null>;
  /** Says that a job is still worked on. */
  beat: Mutation<null>;
  end: Mutation<null>;
  /** The job's identity in both. */
  of: (job: Job) => Record<string, string>;
  /** Polls after so long without news. Defaults to never. */
  lookEveryMs?: number;
}

/** Three in a lease, as Conveyor's worker. */
const BEAT_MS = 20_000;

export function start<Job extends { work: Work }>(pattern: Pattern<Job>): void {
  const { caller, claim, beat, end, of, lookEveryMs } = pattern;
  const socket = new ConvexClient(env["CONVEX_URL"]!, { logger: false });
  const http = new ConvexHttpClient(env["CONVEX_URL"]!, { logger: false });
  const call = <Reply>(mutation: Mutation<Reply>, args: object = {}): Promise<Reply> =>
    http.mutation(mutation, { ...caller, ...args }, { skipQueue: true });

  const untilTold = (): Promise<void> =>
    new Promise((resolve) => {
      const told = (): void => {
        clearTimeout(timer);
        unsubscribe();
        resolve();
      };
      const timer = lookEveryMs === undefined ? undefined : setTimeout(told, lookEveryMs);
      const unsubscribe = socket.onUpdate(
        pattern.hasWork,
        {},
        (hasWork) => {
          if (hasWork) told();
        },
        (error) => {
          failed("hasWork", error);
          told();
        },
      );
    });

  const loop = async (): Promise<void> => {
    for (;;) {
      const job = await insist("claim", () => call(claim));
      if (job === null) {
        await untilTold();
        continue;
      }
      const beats = setInterval(() => {
        call(beat, of(job)).catch((error: unknown) => failed("beat", error));
      }, BEAT_MS);
      await work(job.work);
      await insist("end", () => call(end, of(job)));
      clearInterval(beats);
    }
  };
  for (let place = 0; place < Number(env["WORKER_CONCURRENCY"]); place++) void loop();
}
