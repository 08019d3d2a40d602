/** A worker session spoken by hand, call by call, over the official HTTP client. */
import { randomUUID } from "node:crypto";
import { ConvexHttpClient } from "convex/browser";
import type { FunctionArgs, FunctionReturnType } from "convex/server";
import { api } from "./app/convex/_generated/api.js";
import { until } from "../../local/until.js";

export type Outcome =
  | { kind: "succeeded"; result: { square: number } }
  | { kind: "failed"; error: string }
  | { kind: "released" };

/** The platform gave up on a call, or had no permit for it in five seconds, as on a busy machine: it may be repeated. */
const REFUSED = /OptimisticConcurrencyControlFailure|TooManyConcurrentRequests/;

export class Session {
  /** The counter of the last call. */
  n = 0;
  private readonly client: ConvexHttpClient;

  constructor(
    backend: string | ConvexHttpClient,
    private readonly token: string,
    readonly name: string,
    private readonly queue: "sums" | "races" | "hot" | "mixed" = "sums",
    /** In virtual time one that the seed decides: shards are dealt by it. */
    readonly id: string = randomUUID(),
  ) {
    this.client = typeof backend === "string" ? new ConvexHttpClient(backend) : backend;
  }

  claim(max: number, n = ++this.n) {
    return this.client.mutation(api.work.claim, {
      token: this.token,
      sessionKey: this.id,
      name: this.name,
      callSeq: n,
      queues: [this.queue],
      max,
    });
  }

  async hasWork(): Promise<boolean> {
    const call = { kind: "hasWork" as const, queues: [this.queue] };
    return (await this.client.query(api.work.watch, { token: this.token, call })) === true;
  }

  /** Claims until there is something: a job in another's shard may be taken only after it has waited. */
  async claimed(max: number) {
    const reply = await until(
      () => this.#insistOnClaim(max),
      (answer) => answer.jobs.length > 0,
    );
    return reply.jobs;
  }

  /** As a worker does: the same call under the same counter for as long as the platform has no room for it. */
  async #insistOnClaim(max: number): ReturnType<Session["claim"]> {
    const n = ++this.n;
    for (;;) {
      try {
        return await this.claim(max, n);
      } catch (error) {
        if (!REFUSED.test(String(error))) throw error;
      }
    }
  }

  complete(finished: { id: string; attempt: number; outcome: Outcome }[], n = ++this.n) {
    return this.client.mutation(api.work.complete, {
      token: this.token,
      sessionKey: this.id,
      callSeq: n,
      finished,
    });
  }

  beat(leases: { id: string; attempt: number }[]) {
    return this.client.mutation(api.work.heartbeat, {
      token: this.token,
      sessionKey: this.id,
      leases,
    });
  }

  report(said: Omit<FunctionArgs<typeof api.work.report>, "token" | "sessionKey">) {
    return this.client.mutation(api.work.report, {
      token: this.token,
      sessionKey: this.id,
      ...said,
    });
  }

  /**
   * The calls of a busy worker: outcomes and the next claim in one call, repeated under the same counter for as long as
   * the platform gives up on it.
   */
  async completeAndClaim(
    finished: { id: string; attempt: number; outcome: Outcome }[],
    max: number,
  ): Promise<FunctionReturnType<typeof api.work.complete>> {
    const call = { token: this.token, sessionKey: this.id, callSeq: ++this.n, finished };
    const claim = { queues: [this.queue], max };
    for (;;) {
      try {
        return await this.client.mutation(api.work.complete, { ...call, claim });
      } catch (error) {
        if (!REFUSED.test(String(error))) throw error;
      }
    }
  }
}

export const squared = (square: number): Outcome => ({ kind: "succeeded", result: { square } });
