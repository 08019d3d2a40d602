/** A manual clock and a deployment in memory, for the tests of the worker. No real time passes. */
import { expect, test } from "vitest";
import { WORKER_PROTOCOL, type FinishedAnswer, type Hello } from "../shared/index.js";
import type { Answer, ClaimedJob, Continuation, Outcome, ReportAnswer } from "../shared/index.js";
import type { Clock } from "./clock.js";
import { OUTPUT_DEFAULT } from "./limits.js";
import { Loop } from "./loop.js";
import type { LoopOptions } from "./parts.js";
import { Unanswered, type Claimed, type ClaimRequest, type Transport } from "./transport.js";
import type { CallName, WorkerEvent } from "./events.js";
import type { Handler } from "./types.js";

/** Lets everything run that waits for nothing but promises. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

export class FakeClock implements Clock {
  private time = 0;
  timers: { at: number; run: () => void }[] = [];

  now = () => this.time;
  date = () => this.time;
  random = () => 0.5;
  after = (ms: number, run: () => void) => {
    const timer = { at: this.time + ms, run };
    this.timers.push(timer);
    return () => void (this.timers = this.timers.filter((other) => other !== timer));
  };

  /** Moves on, stopping at every timer on the way for the work that it starts. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    await settle();
    for (;;) {
      const [next] = this.timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.timers = this.timers.filter((other) => other !== next);
      this.time = Math.max(this.time, next.at);
      next.run();
      await settle();
    }
    this.time = end;
    await settle();
  }
}

/** The fate of a call: `before` fails it without effect, `after` loses the answer to one that took effect. */
export type Fault = (
  call: FakeDeployment["calls"][number]["call"],
  n: number | undefined,
) => "before" | "after" | Error | undefined;

/** The queue that is served. */
const QUEUE = "tiles";

/** Every call takes so long, unless a test says more, so that things happen while one is on its way. */
const LATENCY_MS = 5;

/** The protocol's rules, naively: one queue, one session, replies kept by `n`. */
export class FakeDeployment implements Transport {
  readonly pending: ClaimedJob[] = [];
  /** Leases by job id, to their attempt. */
  readonly held = new Map<string, number>();
  readonly recorded = new Map<string, { attempt: number; outcome: Outcome; times: number }>();
  readonly calls: {
    call: CallName | "completeLater";
    n?: number;
    at: number;
    ids: string[];
    max?: number;
    maxCost?: number;
    deferred?: boolean;
    leaving?: number;
    onCall?: ClaimRequest["onCall"];
  }[] = [];
  /** Jobs to be enqueued with the result of a job. */
  readonly continued = new Map<string, Continuation[]>();
  readonly progressed: { id: string; value: unknown }[] = [];
  /** Log entries of each job, as recorded. */
  readonly logs = new Map<string, { level: string; message: string; data?: unknown }[]>();
  readonly outputs = new Map<string, string[]>();
  /** Jobs with a requested cancellation; `told` notifies the subscription. */
  readonly canceled = new Set<string>();
  /** Further fields of the answer to a report, by job. */
  readonly reportAnswers = new Map<string, Partial<ReportAnswer>>();
  refusesReport: (ids: string[]) => boolean = () => false;
  fault: Fault = () => undefined;
  /** Refuses an outcome, as a callback would that breaks the whole transaction. */
  refuses: (outcome: Outcome, id: string, deferred: boolean) => boolean = () => false;
  /** Work that the deployment records by itself when it can. */
  readonly later: (() => void)[] = [];
  /** Whether a complete answers for the other held leases. */
  answersHeld = false;
  /** Jobs that are given back, or have failed, wait again. */
  goesBack = false;
  private readonly leased = new Map<string, ClaimedJob>();
  /** Jobs are there, and another worker gets them. */
  outrun = false;
  mostInFlight = 0;
  closed = false;
  latencyMs = LATENCY_MS;
  /** Claims, alone and with outcomes, as they were sent. */
  readonly requests: ClaimRequest[] = [];
  /** From where subscriptions went on. */
  readonly followed: { queue: string; cursor: string }[] = [];

  private inFlight = 0;
  private reply: { n: number; answers: FinishedAnswer[]; jobs: ClaimedJob[]; held?: Answer[] } = {
    ...{ n: 0, answers: [], jobs: [] },
  };
  private attempts = new Map<string, number>();
  private tellHasWork: (hasWork: boolean) => void = () => {};
  failHasWork: (error: unknown) => void = () => {};
  private tellCanceled: (leases: { id: string; attempt: number }[]) => void = () => {};
  failCancellations: (error: unknown) => void = () => {};
  /** Subscriptions to cancellations, counted since the start. */
  watchers = 0;
  private lastId = 0;

  constructor(
    private readonly clock: FakeClock,
    private readonly leaseMs = 3_000,
  ) {}

  /** Enqueues, and says so. Returns the job's id. */
  enqueue(payload: unknown = null, queue = "tiles", fields: Partial<ClaimedJob> = {}): string {
    const id = `job${(this.lastId += 1)}`;
    const counts = { attempt: 0, failures: 0, resets: 0, enqueuedAt: 0 };
    this.pending.push({ id, queue, payload, leaseMs: this.leaseMs, ...counts, ...fields });
    this.tellHasWork(true);
    return id;
  }

  outcomeOf(id: string): Outcome | undefined {
    return this.recorded.get(id)?.outcome;
  }

  /** The queue is served no longer: results are not recorded, and their jobs go back. */
  unserved = false;
  /** Its answer to `hello`, at once: only tests of the start wait for it. */
  hi: Partial<Hello> = {};
  async hello(): Promise<Hello> {
    // A test may set the fault after its loop has begun.
    await Promise.resolve();
    const fault = this.fault("hello", undefined);
    if (fault instanceof Error) throw fault;
    if (fault !== undefined) throw new Unanswered("the connection broke");
    return { protocol: WORKER_PROTOCOL, version: "0.0.0", ...this.hi };
  }

  claim(n: number, request: ClaimRequest): Promise<Claimed> {
    const { max, maxCost } = request;
    this.requests.push(request);
    const budget = maxCost === undefined ? {} : { maxCost };
    return this.numbered("claim", n, { ids: [], max, ...budget }, () => ({
      answers: [],
      jobs: this.lease(max),
      ...this.claimAnswer(request),
    }));
  }

  complete(...[n, finished, options = {}]: Parameters<Transport["complete"]>) {
    const { claim, deferCallbacks: deferred = false, held = [] } = options;
    if (claim !== undefined) this.requests.push(claim);
    const about = {
      ids: finished.map(({ id }) => id),
      ...(claim === undefined ? {} : { max: claim.max }),
      ...(claim?.maxCost === undefined ? {} : { maxCost: claim.maxCost }),
      ...(deferred ? { deferred } : {}),
    };
    return this.numbered("complete", n, about, () => {
      for (const { id, outcome } of finished) {
        if (this.refuses(outcome, id, deferred)) throw new Error(`refused: ${id}`);
      }
      for (const { id, continued } of finished) {
        if (continued !== undefined) this.continued.set(id, continued);
      }
      const answers = finished.map(({ id, attempt, outcome }) => this.record(id, attempt, outcome));
      const others = this.answersHeld ? { held: held.map((lease) => this.stands(lease)) } : {};
      if (claim === undefined) return { answers, jobs: [], ...others };
      return { answers, jobs: this.lease(claim.max), ...others, ...this.claimAnswer(claim) };
    });
  }

  completeLater(...[{ id, attempt, outcome }]: Parameters<Transport["completeLater"]>) {
    return this.call("completeLater", { ids: [id] }, () => {
      this.later.push(() => void this.record(id, attempt, outcome));
    });
  }

  heartbeat(...[leases, { leaving, onCall } = {}]: Parameters<Transport["heartbeat"]>) {
    const ids = leases.map(({ id }) => id);
    const said = { ...(leaving === undefined ? {} : { leaving }), ...(onCall && { onCall }) };
    return this.call("heartbeat", { ids, ...said }, () => ({
      answers: leases.map((lease) => this.stands(lease)),
      ...this.beatAnswer(onCall),
    }));
  }

  /** Further fields of the answer to a beat, and to a claim. */
  beatAnswer: (onCall?: ClaimRequest["onCall"]) => object = () => ({});
  claimAnswer: (request: ClaimRequest) => object = () => ({});
  watchStandby: Transport["watchStandby"] = () => () => {};

  report({ updates, logs, output }: Parameters<Transport["report"]>[0]): Promise<ReportAnswer[]> {
    const leases = new Map([...updates, ...logs, ...output].map((one) => [one.id, one.attempt]));
    return this.call("report", { ids: [...leases.keys()] }, () => {
      if (this.refusesReport([...leases.keys()])) throw new Error("refused report");
      this.progressed.push(...updates.map(({ id, value }) => ({ id, value })));
      for (const { id, entry, level, message, data } of logs) {
        const content = { level, message, ...(data === undefined ? {} : { data }) };
        getOr(this.logs, id)[entry] = content;
      }
      for (const { id, index, text } of output) {
        const output = getOr(this.outputs, id);
        if (index === output.length) output.push(text);
      }
      return [...leases].map(([id, attempt]) => ({
        ...this.stands({ id, attempt }),
        nextIndex: this.outputs.get(id)?.length ?? 0,
        ...this.reportAnswers.get(id),
      }));
    });
  }

  /** Waiting jobs, in their order. */
  peek({ limit = 10 }: Parameters<Transport["peek"]>[0]) {
    const jobs = this.pending
      .slice(0, limit)
      .map(({ id, queue, payload, enqueuedAt, attempt }) => ({
        ...{ id, queue, payload, enqueuedAt, attempt, priority: 0, cost: 1 },
      }));
    return Promise.resolve(jobs);
  }

  watchCancellations(
    onValue: (leases: { id: string; attempt: number }[]) => void,
    onError: (error: unknown) => void,
  ) {
    this.watchers += 1;
    this.tellCanceled = onValue;
    this.failCancellations = onError;
    this.clock.after(LATENCY_MS, () => this.tell());
    return () => void (this.tellCanceled = () => {});
  }

  /** Cancels a running job, and notifies the subscription. */
  cancel(id: string): void {
    this.canceled.add(id);
    this.clock.after(LATENCY_MS, () => this.tell());
  }

  private tell(): void {
    const held = [...this.canceled].filter((id) => this.held.has(id));
    this.tellCanceled(held.map((id) => ({ id, attempt: this.held.get(id)! })));
  }

  watchHasWork(...[onValue, onError]: Parameters<Transport["watchHasWork"]>) {
    this.tellHasWork = (hasWork) => onValue(QUEUE, hasWork);
    this.failHasWork = (error) => onError(QUEUE, error);
    this.clock.after(LATENCY_MS, () => onValue(QUEUE, this.pending.length > 0));
    return {
      goOn: (queue: string, cursor: string) => {
        this.followed.push({ queue, cursor });
        this.clock.after(LATENCY_MS, () => onValue(QUEUE, this.pending.length > 0));
      },
      end: () => void (this.tellHasWork = () => {}),
    };
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }

  private async numbered(
    call: "claim" | "complete",
    n: number,
    about: { ids: string[]; max?: number; maxCost?: number; deferred?: boolean },
    effect: () => { answers: FinishedAnswer[]; jobs: ClaimedJob[]; held?: Answer[] },
  ) {
    this.mostInFlight = Math.max(this.mostInFlight, (this.inFlight += 1));
    try {
      return await this.call(call, { n, ...about }, () => {
        if (n < this.reply.n) throw new Error("staleCall");
        if (n > this.reply.n) this.reply = { n, ...effect() };
        return this.reply;
      });
    } finally {
      this.inFlight -= 1;
    }
  }

  private async call<Reply>(
    call: FakeDeployment["calls"][number]["call"],
    about: Omit<FakeDeployment["calls"][number], "call" | "at">,
    effect: () => Reply,
  ): Promise<Reply> {
    this.calls.push({ call, at: this.clock.now(), ...about });
    await new Promise<void>((resolve) => this.clock.after(this.latencyMs, resolve));
    const fault = this.fault(call, about.n);
    if (fault instanceof Error) throw fault;
    if (fault === "before") throw new Unanswered("the connection broke");
    const reply = effect();
    if (fault === "after") throw new Unanswered("the answer was lost");
    return reply;
  }

  private lease(max: number): ClaimedJob[] {
    const jobs = this.pending.splice(0, this.outrun ? 0 : max).map((job) => {
      const attempt = (this.attempts.get(job.id) ?? 0) + 1;
      this.attempts.set(job.id, attempt);
      this.held.set(job.id, attempt);
      this.leased.set(job.id, job);
      return { ...job, attempt };
    });
    if (this.pending.length === 0) this.tellHasWork(false);
    return jobs;
  }

  private stands({ id, attempt }: { id: string; attempt: number }): Answer {
    if (this.held.get(id) !== attempt) return { id, attempt, answer: "leaseLost" };
    return { id, attempt, answer: this.canceled.has(id) ? "canceled" : "ok" };
  }

  private record(id: string, attempt: number, outcome: Outcome): FinishedAnswer {
    const answer = this.stands({ id, attempt });
    if (this.unserved && this.held.delete(id)) return { id, attempt, answer: "queueNotServed" };
    if (this.recorded.get(id)?.attempt === attempt) return { id, attempt, answer: "recorded" };
    if (answer.answer === "leaseLost") return answer;
    this.held.delete(id);
    this.recorded.set(id, { attempt, outcome, times: (this.recorded.get(id)?.times ?? 0) + 1 });
    if (this.goesBack && /released|failed/.test(outcome.kind))
      this.tellHasWork(this.pending.push(this.leased.get(id)!) > 0);
    return { id, attempt, answer: "ok" };
  }
}

function getOr<Value>(map: Map<string, Value[]>, id: string): Value[] {
  return map.get(id) ?? map.set(id, []).get(id)!;
}

/** A worker's loop on a fake clock against a fake deployment. */
export function startLoop(
  handler: Handler,
  { leaseMs, ...options }: Partial<LoopOptions> & { leaseMs?: number } = {},
) {
  const clock = new FakeClock();
  const deployment = new FakeDeployment(clock, leaseMs);
  const events: WorkerEvent[] = [];
  const loop = new Loop({
    clock,
    transport: deployment,
    ...{ name: "worker", queues: [QUEUE], handlers: new Map([[QUEUE, handler]]) },
    ...{ concurrency: 1, presenceMs: 0, output: OUTPUT_DEFAULT },
    emit: (event) => events.push(event),
    ...options,
  });
  /** The end of `run`: undefined while it goes on. */
  const end: { value?: { error?: unknown } } = {};
  const running = loop.run().then(
    () => void (end.value = {}),
    (error: unknown) => void (end.value = { error }),
  );
  const kinds = (kind: WorkerEvent["kind"]) => events.filter((event) => event.kind === kind);
  const callsOf = (call: FakeDeployment["calls"][number]["call"]) =>
    deployment.calls.filter((one) => one.call === call);
  return { clock, deployment, events, kinds, callsOf, loop, end, running };
}

/** A handler's work, ended from outside. */
export function manual() {
  const begun: {
    id: string;
    attempt: number;
    signal: AbortSignal;
    progress: (value: unknown) => void;
    job: Parameters<Handler>[0];
    resolve: (value?: unknown) => void;
    reject: (error: unknown) => void;
  }[] = [];
  const handler: Handler = (job) =>
    new Promise((resolve, reject) => {
      const { id, attempt, signal, progress } = job;
      begun.push({ id, attempt, signal, progress, job, resolve, reject });
    });
  return { begun, handler };
}

// Shows SG-48.
test("the fake clock runs due callbacks in order, at their times, and further ones that they set", async () => {
  const [clock, seen] = [new FakeClock(), new Array<string>()];
  clock.after(20, () => seen.push(`second at ${clock.now()}`));
  clock.after(10, () => {
    seen.push(`first at ${clock.now()}`);
    clock.after(5, () => seen.push(`between at ${clock.now()}`));
  });
  clock.after(15, () => seen.push("canceled"))();
  await clock.advance(30);
  expect(seen).toEqual(["first at 10", "between at 15", "second at 20"]);
});
