/**
 * The rules of the protocol that each message of a worker keeps in every script: numbers, leases, slots. Each
 * broken rule is one sentence in `broken`. Pure but for the clock.
 */
import { isSame, keyOf, type Json, type Lease } from "./messages.js";

const CALLS = ["claim", "complete", "heartbeat", "report", "watch"];
const OUTCOMES = ["succeeded", "failed", "released", "snoozed", "canceled"];
const LEASES_MAX = 64;
/** For a busy machine: beyond it, a lease was let run out. */
const SLACK_MS = 400;

export class Rules {
  readonly broken = new Set<string>();
  private session: string | undefined;
  private readonly unansweredArgs = new Map<number, Json>();
  private readonly leases = new Set<string>();
  private readonly lost = new Set<string>();
  private readonly running = new Map<string, Lease>();
  private readonly texts = new Map<string, string>();
  private readonly nextOf = new Map<string, number>();

  constructor(private readonly concurrency: number) {}

  private expect(is: boolean, rule: string): void {
    if (!is) this.broken.add(rule);
  }

  callOf(path: string, module: string, endpoint: string, args: Json): string {
    const [of, call = ""] = path.split(":");
    this.expect(
      of === module && CALLS.includes(call),
      `${path} is no function of the module ${module}`,
    );
    this.expect(typeof args === "object" && args !== null, "args are an object");
    const wanted = call === "watch" ? "/api/query" : "/api/mutation";
    this.expect(endpoint === wanted, `${call} goes to ${wanted}; it went to ${endpoint}`);
    return call;
  }

  checkType(type: string | undefined): void {
    const isJson = type !== undefined && /^application\/json\b/i.test(type);
    this.expect(isJson, "each call has the header Content-Type: application/json");
  }

  checkCaller(args: Json, token: string, call: string): void {
    this.expect(args.token === token, "each call has the token");
    if (call === "watch") return;
    this.session ??= args.sessionKey;
    const isKey = typeof args.sessionKey === "string" && args.sessionKey !== "";
    this.expect(
      isKey && args.sessionKey === this.session,
      "each call has the one sessionKey of the process",
    );
  }

  checkNumber(of: {
    call: string;
    n: Json;
    last: number;
    isOpen: boolean;
    hasLeft: boolean;
  }): void {
    const { call, n, last, isOpen, hasLeft } = of;
    const isNext = n === last + 1 || n === last;
    this.expect(
      isNext,
      `a call's number is one more than the last, ${last}, or repeats it; ${call} had ${n}`,
    );
    this.expect(!isOpen, `numbered calls go one at a time; ${call} ${n} came beside another`);
    this.expect(!hasLeft, `no ${call} comes after the goodbye`);
  }

  /** A call without an answer is repeated as it was. */
  checkRepeat(n: number, args: Json): void {
    const before = this.unansweredArgs.get(n);
    if (before === undefined) return;
    this.expect(
      isSame(before, args),
      `call ${n} had no answer, and its repeat has other arguments`,
    );
  }

  unanswered(n: number, args: Json): void {
    if (!this.unansweredArgs.has(n)) this.unansweredArgs.set(n, args);
  }

  answered(n: number): void {
    this.unansweredArgs.delete(n);
  }

  checkClaim({ max, queues, queue }: Json): void {
    this.expect(
      isSame(queues, [queue]),
      `a claim names its queues; it had ${JSON.stringify(queues)}`,
    );
    const isWhole = Number.isInteger(max) && max >= 1 && max <= LEASES_MAX;
    this.expect(
      isWhole && max <= this.concurrency,
      `a claim asks for 1 to ${this.concurrency} jobs here; it had ${max}`,
    );
  }

  leased(lease: Lease): void {
    this.leases.add(keyOf(lease));
  }

  toldLost(lease: Lease): void {
    this.lost.add(keyOf(lease));
  }

  checkOutcome({ id, attempt, queue, outcome }: Json, served: string): void {
    const key = keyOf({ id, attempt });
    this.expect(this.leases.has(key), `an outcome is of a leased attempt; ${key} was none`);
    this.expect(!this.lost.has(key), `the result of a lost attempt is dropped; ${key} was sent`);
    this.expect(OUTCOMES.includes(outcome?.kind), `an outcome has a kind; it had ${outcome?.kind}`);
    this.expect(queue === served, `an outcome names its job's queue; it had ${queue}`);
    const isError = outcome?.kind !== "failed" || typeof outcome.error === "string";
    this.expect(isError, "a failure has an error text");
  }

  /** A lease that a live worker lets run out is a job that is done twice. */
  checkLeases(held: Iterable<Lease & { renewedAt: number; job: { leaseMs?: number } }>): void {
    for (const { id, attempt, renewedAt, job } of held) {
      if (!this.running.has(keyOf({ id, attempt })) || job.leaseMs === undefined) continue;
      const isAlive = Date.now() - renewedAt < job.leaseMs + SLACK_MS;
      this.expect(isAlive, `the lease of ${id} was not renewed within its ${job.leaseMs} ms`);
    }
  }

  begun(lease: Lease, held: { renewedAt: number; job: { leaseMs?: number } } | undefined): void {
    const key = keyOf(lease);
    this.expect(this.leases.has(key), `a handler has begun ${key}, which was never leased`);
    this.expect(!this.lost.has(key), `a handler has begun ${key} after its lease was lost`);
    const leaseMs = held?.job.leaseMs ?? Infinity;
    const stands = held === undefined || Date.now() - held.renewedAt < leaseMs + SLACK_MS;
    this.expect(stands, `a handler has begun ${key} after its lease was over`);
    const isAlone = ![...this.running.values()].some(({ id }) => id === lease.id);
    this.expect(isAlone, `two handlers of ${lease.id} ran at once`);
    this.running.set(key, lease);
    this.expect(
      this.running.size <= this.concurrency,
      `more than ${this.concurrency} handlers ran at once`,
    );
  }

  /** Whether a handler of the job runs. */
  hasBegun(job: string): boolean {
    return [...this.running.values()].some(({ id }) => id === job);
  }

  ended(lease: Lease): void {
    this.running.delete(keyOf(lease));
  }

  /** Entries and parts are counted up from 0 in each attempt, and a repeat says the same. */
  checkReport({ logs, output }: Json): void {
    for (const one of logs) this.checkPart(`entry ${keyOf(one)}`, one.entry, String(one.message));
    for (const one of output) this.checkPart(`part ${keyOf(one)}`, one.index, one.text);
  }

  private checkPart(of: string, at: number, text: string): void {
    const next = this.nextOf.get(of) ?? 0;
    this.expect(at <= next, `${of} has no gaps: ${at} came before ${next}`);
    const key = `${of} ${at}`;
    this.expect((this.texts.get(key) ?? text) === text, `${key} was repeated with another text`);
    this.texts.set(key, text);
    this.nextOf.set(of, Math.max(next, at + 1));
  }

  checkGoodbye({ leaving, last, held }: { leaving: number; last: number; held: number }): void {
    this.expect(
      leaving > last,
      `a goodbye's number is above all calls, ${last}; it had ${leaving}`,
    );
    this.expect(held === 0, "a goodbye comes when no lease is held");
  }
}
