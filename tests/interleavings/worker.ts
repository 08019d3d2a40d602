/** A worker's process as far as the component sees it: the calls that it makes, numbered, and the cursor it goes on from. */
import type { Answer, ClaimedJob, Finished } from "../../src/shared/index.js";
import { mutation, type Line } from "./line.js";
import type { Call } from "./transactions.js";

export type Attempt = Pick<ClaimedJob, "id" | "attempt">;
export interface ClaimReply {
  jobs: ClaimedJob[];
  cursor: string;
}
export interface CompleteReply {
  answers: Answer[];
  jobs: ClaimedJob[];
  cursor?: string;
}
export interface BeatReply {
  answers: Answer[];
}

export class Worker {
  #n = 0;
  #cursor: string | undefined;

  constructor(
    private readonly line: Line,
    readonly name: string,
  ) {}

  claims(max = 1, queues = [this.line.queue]): Call {
    const n = (this.#n += 1);
    const args = { ...this.#session(), callSeq: n, name: this.name, ...this.#request(max, queues) };
    return mutation("lib:claim", args);
  }

  completes(jobs: readonly Attempt[], { claim = 0, outcome = SUCCEEDED } = {}): Call {
    const finished = jobs.map(({ id, attempt }): Finished => ({ id, attempt, outcome }));
    const next = claim === 0 ? {} : { claim: this.#request(claim) };
    const n = (this.#n += 1);
    return mutation("lib:complete", { ...this.#session(), callSeq: n, finished, ...next });
  }

  beats(jobs: readonly Attempt[]): Call {
    const leases = jobs.map(({ id, attempt }) => ({ id, attempt }));
    return mutation("lib:heartbeat", { ...this.#session(), leases });
  }

  reports(jobs: readonly Attempt[]): Call {
    const updates = jobs.map(({ id, attempt }) => ({ id, attempt, value: 1 }));
    return mutation("lib:report", { ...this.#session(), updates });
  }

  /** An outcome that its calls could not record. */
  handsOver({ id, attempt }: Attempt, outcome: Finished["outcome"] = SUCCEEDED): Call {
    const finished: Finished = { id, attempt, outcome };
    return mutation("lib:completeLater", { ...this.#session(), finished });
  }

  async claim(max = 1, queues = [this.line.queue]): Promise<ClaimedJob[]> {
    const { jobs, cursor } = await this.line.do<ClaimReply>(this.claims(max, queues));
    this.#cursor = cursor;
    return jobs;
  }

  async complete(jobs: readonly Attempt[]): Promise<CompleteReply> {
    return await this.line.do<CompleteReply>(this.completes(jobs));
  }

  #session() {
    return { token: this.line.token, sessionKey: `session-${this.name}` };
  }

  #request(max: number, queues = [this.line.queue]) {
    const cursor = this.#cursor === undefined ? {} : { cursor: this.#cursor };
    return { queues, max, ...cursor };
  }
}

const SUCCEEDED: Finished["outcome"] = { kind: "succeeded", result: 1 };

/** A job that has ended while the app's callback failed, so that it is owed; and its worker. */
export async function endsUntold(
  line: Line,
  outcome = SUCCEEDED,
): Promise<{ id: string; worker: Worker }> {
  const [id] = await line.enqueue();
  const worker = new Worker(line, "worker");
  const jobs = await worker.claim();
  await line.app("fail");
  await line.do(worker.completes(jobs, { outcome }));
  return { id: id!, worker };
}

/** A call for the work of a sweep that is late. */
export function tends(): Call {
  return mutation("lib:tend", { queues: [] });
}

/** A try of the callback that is owed. */
export function triesOwed(line: Line): Call {
  const [owed] = line.rows("callbacks");
  return mutation("edges/callbacks:tryCallback", { id: owed!._id });
}
