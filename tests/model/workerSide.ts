/** The calls of workers: made to the component and to the model, with the answers compared. */
import { api } from "../../src/component/_generated/api.js";
import { leaseOf, refusal, Worker, type World } from "../../src/component/setup.test.js";
import type { Answer, ClaimedJob, Finished, Outcome } from "../../src/shared/index.js";
import { claimable, followClaim, seesExpired } from "./claims.js";
import type { Command, End, Kind, Wants } from "./commands.js";
import { enterAll, refusalOf } from "./entering.js";
import { expect } from "./follow.js";
import { type Job, type Session } from "./jobs.js";
import { type Model } from "./model.js";
import { pick, same } from "./same.js";
import { span } from "./spans.js";

/** Each job has its own number, which identifies it where no reply has its id. */
export class Numbers {
  private last = 0;
  next(): number {
    return (this.last += 1);
  }
}

/** The last call of a session, to be repeated. */
interface Call {
  again: () => Promise<{ jobs: ClaimedJob[]; answers?: Answer[] }>;
  answers: Answer[];
}

export class WorkerSide {
  private readonly workers = new Map<Session, Worker>();
  private readonly calls = new Map<Session, Call>();

  constructor(
    private readonly world: World,
    private readonly model: Model,
    private readonly numbers: Numbers,
  ) {}

  begin(name: string): Session {
    const session = {
      ...{ name, sessionKey: `${name}-${this.model.sessions.length}`, n: 0, lastSeenAt: 0 },
      ...{ leases: [], acknowledged: true, deadlineAt: Infinity },
    };
    this.model.sessions.push(session);
    this.workers.set(session, new Worker(this.world, name, session.sessionKey));
    return session;
  }

  async claim(session: Session, wants: Wants): Promise<void> {
    const worker = this.workers.get(session)!;
    const { max, ...conditions } = wants;
    const jobs = await worker.claim(max, conditions);
    this.model.isDeclared = true;
    this.called(session, () =>
      worker.claim(max, { ...conditions, n: session.n }).then((again) => ({ jobs: again })),
    );
    this.claimed(session, wants, jobs);
  }

  /** A new call: the last one's reply has arrived. */
  private called(session: Session, again: Call["again"], answers: Answer[] = []): void {
    session.n += 1;
    session.acknowledged = true;
    this.calls.set(session, { again, answers });
  }

  private claimed(session: Session, wants: Wants, jobs: ClaimedJob[]): void {
    const now = Date.now();
    followClaim(this.model, session, wants, jobs, now);
    if (jobs.length > 0) session.acknowledged = false;
    this.model.renew(session, now);
  }

  async complete(session: Session, command: Extract<Command, { do: "complete" }>): Promise<void> {
    if (session.n === 0) return;
    const finished = this.finishedBy(session, command.ends);
    if (finished.length === 0) return;
    const { claim, deferCallbacks } = command;
    const options = { deferCallbacks, ...(claim === undefined ? {} : { claim }) };
    await this.report(session, finished, options);
  }

  private finishedBy(session: Session, ends: readonly End[]): Finished[] {
    return ends.flatMap(({ lease: index, kind, ms, continued }) => {
      const lease = pick(session.leases, index);
      if (lease === undefined) return [];
      const jobs = continued.map((options) => ({ payload: this.numbers.next(), options }));
      const more = jobs.length === 0 ? {} : { continued: [{ queue: this.world.queue, jobs }] };
      return [{ ...leaseOf(lease), outcome: outcomeOf(kind, ms), ...more }];
    });
  }

  /** The app's call in the transaction of a claim with jobs that it cannot hand out: no call of the session's. */
  async takeBack(session: Session, ends: readonly End[]): Promise<void> {
    const finished = this.finishedBy(session, ends);
    if (finished.length === 0) return;
    const { token } = this.world;
    const args = { token, sessionKey: session.sessionKey, finished };
    const { answers } = await this.world.t.mutation(api.lib.takeBack, args);
    await this.recordAll(session, finished, answers);
    this.model.renew(session, Date.now());
  }

  async late(command: Extract<Command, { do: "late" }>): Promise<void> {
    const session = pick(this.model.sessions, command.worker);
    const job = pick(this.model.jobs, command.job);
    if (session.n === 0 || job === undefined) return;
    const attempt = Math.max(0, job.attempt - command.back);
    const jobs = [{ payload: this.numbers.next() }];
    const continued = [{ queue: this.world.queue, jobs }];
    const outcome = outcomeOf(command.kind, 100);
    await this.report(session, [{ id: job.id, attempt, outcome, continued }], {});
  }

  private async report(
    session: Session,
    finished: Finished[],
    options: { claim?: number; deferCallbacks?: boolean },
  ): Promise<void> {
    const worker = this.workers.get(session)!;
    const reply = await worker.complete(finished, options);
    this.called(
      session,
      () => worker.complete(finished, { ...options, n: session.n }),
      reply.answers,
    );
    await this.recordAll(session, finished, reply.answers);
    if (options.claim !== undefined) this.claimed(session, { max: options.claim }, reply.jobs);
    else this.model.renew(session, Date.now());
  }

  private async recordAll(
    session: Session,
    finished: readonly Finished[],
    answers: readonly Answer[],
  ): Promise<void> {
    // No reply has the ids of jobs that continue a job.
    const isContinued = finished.some(({ continued = [] }) => continued.length > 0);
    const rows = isContinued ? await this.world.all("jobs") : [];
    const ids = new Map(
      rows.map(({ payload, _id }) => [(payload as { inline: number }).inline, _id as string]),
    );
    for (const [i, one] of finished.entries()) {
      this.record(session, one, answers[i]!.answer, ids);
    }
  }

  private record(
    session: Session,
    finished: Finished,
    answer: Answer["answer"],
    ids: ReadonlyMap<number, string>,
  ): void {
    const { model } = this;
    const { id, attempt } = finished;
    const job = model.find(id)!;
    const lease = session.leases.find((one) => one.id === id && one.attempt === attempt);
    session.leases = session.leases.filter((one) => one !== lease);
    if (lease === undefined || job.isDeleted) {
      const by = job.over.get(attempt);
      const about = { finished, answer, job };
      expect(answer !== "ok", "a stale word moves nothing", about);
      if (answer === "recorded")
        expect(by === session.sessionKey, "recorded is its own word", about);
      const isCanceled = job.status === "canceled" || job.stopped.has(attempt);
      if (answer === "canceled") expect(isCanceled, "canceled is canceled", about);
      return;
    }
    expect(answer === "ok", "a lease that stands may be reported", { finished, answer, job });
    // Put back, for the edge to take it out.
    session.leases.push(lease);
    this.end(session, job, finished, ids);
  }

  private end(
    session: Session,
    job: Job,
    { outcome, continued = [] }: Finished,
    ids: ReadonlyMap<number, string>,
  ): void {
    const { model } = this;
    const now = Date.now();
    const isReplaced = job.cancelRequested && outcome.kind !== "succeeded";
    const isSame = !isReplaced || outcome.kind === "canceled";
    const jobs = isSame ? continued.flatMap((one) => one.jobs) : [];
    if (jobs.length > 0) {
      const options = jobs.map((one) => one.options ?? {});
      const freed = model.isEndedBy(job, outcome) ? job : null;
      if (refusalOf(model, options, now, freed) !== null) {
        return this.end(session, job, { ...leaseOf(job), outcome: REFUSED }, ids);
      }
    }
    if (isReplaced) model.stop(job, session.sessionKey);
    else this.walk(job, outcome, session.sessionKey, now);
    // One by one: which of them has a key depends on the ones before.
    for (const one of jobs) {
      const id = ids.get(one.payload as number);
      const owner = one.options?.key && model.ownerOf(one.options.key.value, now);
      enterAll(model, [{ id: id ?? owner?.id ?? "", isNew: id !== undefined }], [one], now);
    }
  }

  private walk(job: Job, outcome: Outcome, by: string, now: number): void {
    const { model } = this;
    switch (outcome.kind) {
      case "succeeded":
        return model.succeed(job, by, now);
      case "failed":
        return model.fail(job, outcome, span(now), by);
      case "released":
        return model.release(job, by, now);
      case "snoozed":
        return model.snooze(job, by, now + outcome.runAfter);
      case "canceled":
        return model.stop(job, by);
    }
  }

  async repeat(session: Session): Promise<void> {
    const call = this.calls.get(session);
    if (call === undefined) return;
    const { jobs, answers = [] } = await call.again();
    same(answers, call.answers);
    const standing = session.leases.filter(
      ({ n, id }) => n === session.n && !this.model.find(id)!.isDeleted,
    );
    const ids = (list: { id: string; attempt: number }[]) => list.map(leaseOf).sort(byId);
    same(ids(jobs), ids(standing));
  }

  async stale(session: Session): Promise<void> {
    if (session.n < 2) return;
    const worker = this.workers.get(session)!;
    const { n } = worker;
    const { code } = await refusal(worker.claim(3, { n: session.n - 1 }));
    worker.n = n;
    expect(code === "staleCall", "a call that comes too late is refused", code);
  }

  /** `names`: as bits, which of its leases it speaks of. */
  async beat(session: Session, names: number): Promise<void> {
    if (session.n === 0) return;
    const { model } = this;
    const now = Date.now();
    const named = session.leases.filter((_, i) => ((names >> (i % 4)) & 1) === 1);
    const foreign = model.there
      .filter(({ sessionKey: other }) => other !== session.sessionKey)
      .slice(0, 2);
    const leases = [...named, ...foreign];
    const answers = await this.workers.get(session)!.heartbeat(leases.map(leaseOf));
    same(answers, [
      ...named.map(({ isAsked }) => (isAsked ? "canceled" : "ok")),
      ...foreign.map(() => "leaseLost"),
    ]);
    if (named.some(({ n }) => n === session.n)) session.acknowledged = true;
    // A lease with a request to end, which its worker no longer mentions, is renewed this once and then over.
    for (const lease of session.leases) {
      if (!lease.isAsked || named.includes(lease) || lease.n === session.n) continue;
      const until = now + lease.lastsMs;
      lease.timeoutAt = Math.min(lease.timeoutAt ?? Infinity, until);
    }
    model.renew(session, now);
  }

  async hasWork(session: Session, wants: Omit<Wants, "max">): Promise<void> {
    const now = Date.now();
    const there = claimable(this.model, wants, now).length > 0;
    const has = await this.workers.get(session)!.hasWork(wants);
    const isMistaken = has && seesExpired(this.model, wants, now);
    expect(has === there || isMistaken, "a subscription shows whether there is work", {
      wants,
      has,
      there,
    });
  }
}

const REFUSED: Outcome = { kind: "failed", error: "its continuation was refused" };

function outcomeOf(kind: Kind, ms: number): Outcome {
  switch (kind) {
    case "fatal":
      return { kind: "failed", error: "boom", retryable: false };
    case "after":
      return { kind: "failed", error: "boom", retryAfterMs: ms };
    case "failed":
      return { kind, error: "boom" };
    case "snoozed":
      return { kind, runAfter: ms };
    default:
      return { kind };
  }
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}
