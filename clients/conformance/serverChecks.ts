/**
 * Plays a worker's part for a deployment, one call after another, and returns each rule with whether it was kept. The
 * queue is to have no other worker and no job of its own.
 */
import { randomUUID } from "node:crypto";
import { check, isSame, type Check, type Json } from "./messages.js";

export interface ServerOptions {
  url: string;
  token: string;
  module: string;
  queue: string;
  /** A mutation `{ queue, payload }` that enqueues one job. */
  enqueue: string;
  payload: unknown;
  /** A result that the queue takes. */
  result: unknown;
}

type Reply = { value: Json } | { code: string };

export async function checkServer(options: ServerOptions): Promise<Check[]> {
  const session = new Session(options);
  const checks = [
    ...(await checkDoors(session)),
    ...(await checkCalls(session)),
    ...(await checkLeases(session)),
    ...(await checkReports(session)),
  ];
  return [...checks, ...(await checkEnd(session))];
}

/** A session's calls over plain HTTP. */
class Session {
  readonly key = randomUUID();
  n = 0;

  constructor(readonly options: ServerOptions) {}

  async post(kind: "query" | "mutation", path: string, args: Json): Promise<Reply> {
    const response = await fetch(`${this.options.url}/api/${kind}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ path, args, format: "convex_encoded_json" }),
    });
    const answer = await response.json();
    if (answer.status === "success") return { value: answer.value };
    return { code: answer.errorData?.code ?? answer.errorMessage ?? `HTTP ${response.status}` };
  }

  async call(name: string, args: Json, token = this.options.token): Promise<Reply> {
    const path = `${this.options.module}:${name}`;
    return await this.post("mutation", path, { token, sessionKey: this.key, ...args });
  }

  async watch(call: Json): Promise<Reply> {
    return await this.post("query", `${this.options.module}:watch`, {
      token: this.options.token,
      call,
    });
  }

  async claim(n: number, max = 1): Promise<Reply> {
    return await this.call("claim", {
      name: "conformance",
      callSeq: n,
      queues: [this.options.queue],
      max,
    });
  }

  /** A job in hand, enqueued for it. Other jobs of the queue are not touched. */
  async take(): Promise<Json> {
    const { enqueue, queue, payload } = this.options;
    await this.post("mutation", enqueue, { queue, payload });
    // A job that has just come is left for a moment to the worker of its shard.
    for (let times = 0; times < 20; times += 1) {
      const reply = await this.claim((this.n += 1));
      if ("value" in reply && reply.value.jobs.length > 0) return reply.value.jobs[0];
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`No job of the queue ${queue} could be claimed.`);
  }

  outcome(
    { id, attempt }: Json,
    outcome: Json = { kind: "succeeded", result: this.options.result },
  ): Json {
    return { id, attempt, queue: this.options.queue, outcome };
  }

  async complete(n: number, finished: Json[]): Promise<Reply> {
    return await this.call("complete", { callSeq: n, finished });
  }
}

const valueOf = (reply: Reply): Json => ("value" in reply ? reply.value : {});
const answersOf = (reply: Reply): string[] =>
  (valueOf(reply).answers ?? []).map(({ answer }: Json) => answer);
const leaseOf = ({ id, attempt }: Json) => ({ id, attempt });
const said = (reply: Reply) => JSON.stringify(reply);

function refuses(rule: string, reply: Reply, code: string): Check {
  return check(rule, "code" in reply && reply.code === code, `the answer was ${said(reply)}`);
}

async function checkDoors(session: Session): Promise<Check[]> {
  const { queue } = session.options;
  const hello = await session.watch({ kind: "hello", queues: [queue] });
  const foreign = await session.call("heartbeat", { leases: [] }, "cvy_unknown");
  const unknown = await session.watch({ kind: "hello", queues: ["noSuchQueue"] });
  const tooMany = await session.call("claim", { name: "c", callSeq: 1, queues: [queue], max: 65 });
  return [
    check("hello answers the protocol's version", valueOf(hello).protocol >= 1, said(hello)),
    refuses("an unknown token is refused with tokenUnknown", foreign, "tokenUnknown"),
    refuses("an unknown queue is refused with unknownQueue", unknown, "unknownQueue"),
    refuses(
      "a claim of more than 64 jobs is refused with invalidArgument",
      tooMany,
      "invalidArgument",
    ),
  ];
}

async function checkCalls(session: Session): Promise<Check[]> {
  const job = await session.take();
  const again = await session.claim(session.n);
  const isRepeated = isSame(valueOf(again).jobs?.map(leaseOf), [leaseOf(job)]);
  const done = await session.complete((session.n += 1), [session.outcome(job)]);
  const repeated = await session.complete(session.n, [session.outcome(job)]);
  const later = await session.complete((session.n += 1), [session.outcome(job)]);
  const stale = await session.claim(session.n - 1);
  return [
    check("a repeated claim is answered with the same leases", isRepeated, said(again)),
    check("an outcome is answered ok", isSame(answersOf(done), ["ok"]), said(done)),
    check(
      "a repeated completion is answered as the first",
      isSame(answersOf(repeated), ["ok"]),
      said(repeated),
    ),
    check(
      "an outcome that is recorded is answered recorded",
      isSame(answersOf(later), ["recorded"]),
      said(later),
    ),
    refuses("a call older than the last is refused with staleCall", stale, "staleCall"),
  ];
}

async function checkLeases(session: Session): Promise<Check[]> {
  const job = await session.take();
  const leases = [leaseOf(job)];
  const beat = await session.call("heartbeat", { leases });
  const other = new Session(session.options);
  const foreign = await other.call("heartbeat", { leases });
  const wrong = { ...job, attempt: job.attempt + 1 };
  const mixed = await session.complete((session.n += 1), [
    session.outcome(wrong),
    session.outcome(job, { kind: "released" }),
  ]);
  const back = await session.take();
  await session.complete((session.n += 1), [session.outcome(back)]);
  return [
    check(
      "a beat of a lease that stands is answered ok",
      isSame(answersOf(beat), ["ok"]),
      said(beat),
    ),
    check(
      "a beat of another session's lease is answered leaseLost",
      isSame(answersOf(foreign), ["leaseLost"]),
      said(foreign),
    ),
    check(
      "an outcome of another attempt is answered leaseLost, and the rest of its batch stands",
      isSame(answersOf(mixed), ["leaseLost", "ok"]),
      said(mixed),
    ),
    check(
      "a job that is given back is claimed by its next attempt",
      back.id === job.id && back.attempt === job.attempt + 1,
      said(back),
    ),
  ];
}

async function checkReports(session: Session): Promise<Check[]> {
  // The job that was enqueued for the lease that was given back.
  const job = await session.take();
  const lease = leaseOf(job);
  const report = {
    updates: [{ ...lease, value: { percent: 50 }, revision: 1 }],
    logs: [{ ...lease, entry: 0, level: "info", message: "said" }],
    output: [{ ...lease, index: 0, text: "text" }],
  };
  const first = await session.call("report", report);
  const repeated = await session.call("report", report);
  const late = await session.call("report", {
    updates: [{ ...lease, attempt: job.attempt + 1, value: 1 }],
  });
  const next = valueOf(first).answers?.[0]?.nextIndex;
  await session.complete((session.n += 1), [session.outcome(job)]);
  return [
    check(
      "a report is answered ok, with the index of the next part",
      isSame(answersOf(first), ["ok"]) && next === 1,
      said(first),
    ),
    check("a repeated report is answered the same", isSame(repeated, first), said(repeated)),
    check(
      "a report of another attempt is answered leaseLost",
      isSame(answersOf(late), ["leaseLost"]),
      said(late),
    ),
  ];
}

async function checkEnd(session: Session): Promise<Check[]> {
  const rest = await session.take();
  await session.complete((session.n += 1), [session.outcome(rest)]);
  const goodbye = await session.call("heartbeat", { leases: [], leaving: session.n + 2 });
  const late = await session.claim(session.n + 1);
  return [
    check(
      "a goodbye is answered",
      isSame(answersOf(goodbye), []) && "value" in goodbye,
      said(goodbye),
    ),
    refuses(
      "a call with a number below the goodbye's is refused with staleCall",
      late,
      "staleCall",
    ),
  ];
}
