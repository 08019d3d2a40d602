/**
 * A deployment's part, scripted: it leases jobs, loses replies, refuses calls, cancels jobs and ends leases as the
 * script of each job says, and notes each message that breaks a rule of the protocol. It answers plain HTTP alone.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isSame, keyOf, type Json, type Lease } from "./messages.js";
import { Rules } from "./rules.js";

/** One job, and the troubles that come with it. */
export interface ScriptedJob {
  id: string;
  payload: Json;
  leaseMs?: number;
  /** Completions that carry it: so many lose their reply, so many are answered 503, so many are refused. */
  complete?: { lost?: number; unavailable?: number; refused?: number };
  /** Reports about it that lose their reply. */
  reportsLost?: number;
  /** So long after its handler has begun, it is canceled. */
  cancelAfterMs?: number;
  /** So long after the handler of its first attempt has begun, its lease ends, and it waits again. */
  loseAfterMs?: number;
}

interface Held extends Lease {
  job: ScriptedJob;
  renewedAt: number;
}

export interface Message {
  call: string;
  args: Json;
}

export const TOKEN = "cvy_conformance";
export const QUEUE = "conformance";
export const MODULE = "workers";
const LEASE_MS = 30_000;
/** A reply takes a moment, so that a second numbered call beside the first can be seen. */
const REPLY_MS = 5;

export class ScriptedServer {
  readonly rules: Rules;
  readonly messages: Message[] = [];
  readonly recorded: (Lease & { outcome: Json })[] = [];
  readonly reported: Json[] = [];
  /** Jobs to be given when all before them are recorded, each group in the reply to the last outcome before it. */
  later: ScriptedJob[][] = [];
  left = false;
  /** Whether the worker has tended late work, as replies asked it to. */
  wasTended = false;
  private readonly server: Server;
  private readonly held = new Map<string, Held>();
  private readonly attempts = new Map<string, number>();
  private readonly canceled = new Set<string>();
  /** The jobs that were leased, by their ids. */
  private readonly scripts = new Map<string, ScriptedJob>();
  private n = 0;
  private reply: Json = {};
  private open: { n: number; args: Json } | undefined;
  private claimsLost: number;

  constructor(
    private readonly waiting: ScriptedJob[],
    private readonly options: { concurrency: number; claimsLost?: number; refuseAll?: string },
  ) {
    this.claimsLost = options.claimsLost ?? 0;
    this.rules = new Rules(options.concurrency);
    this.server = createServer((request, response) => void this.serve(request, response));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    return this.url;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  made(call: string): Json[] {
    return this.messages.filter((one) => one.call === call).map(({ args }) => args);
  }

  /** Whether the job was ever claimed. */
  hasLeased(id: string): boolean {
    return this.attempts.has(id);
  }

  outcomeOf(id: string): Json {
    return this.recorded.find((one) => one.id === id)?.outcome;
  }

  // --- Messages -----------------------------------------------------------------------------------

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    if (url.pathname === "/begun" || url.pathname === "/ended") {
      this.handlerSays(url.pathname.slice(1), leaseIn(url));
      return void response.end();
    }
    if (!/^\/api\/(query|mutation)$/.test(url.pathname)) {
      response.statusCode = 404;
      return void response.end(
        "Not here: this server speaks the protocol of workers over plain HTTP.",
      );
    }
    this.rules.checkType(request.headers["content-type"]);
    const { path, args: given } = JSON.parse(text) as { path: string; args: Json };
    const args: Json = Array.isArray(given) ? given[0] : given;
    const call = this.rules.callOf(path, MODULE, url.pathname, args);
    this.messages.push({ call, args });
    const answer = this.answer(call, args);
    await new Promise((resolve) => setTimeout(resolve, REPLY_MS));
    if (this.open?.n === args?.callSeq) this.open = undefined;
    if (answer.kind === "lost") return void request.socket.destroy();
    response.statusCode = answer.kind === "unavailable" ? 503 : 200;
    response.setHeader("Content-Type", "application/json");
    response.end(answer.kind === "unavailable" ? "overloaded" : JSON.stringify(answer.body));
  }

  private answer(call: string, args: Json): Answer {
    const { refuseAll } = this.options;
    if (refuseAll !== undefined)
      return failed("Refused.", { code: refuseAll, message: "Refused." });
    this.rules.checkCaller(args, TOKEN, call);
    this.rules.checkLeases(this.held.values());
    if (call === "watch") return success(this.watch(args.call));
    if (call === "report") return this.report(args);
    if (args.tend !== undefined) {
      this.wasTended ||= isSame(args.tend, [QUEUE]);
      return success({ answers: [] });
    }
    if (call === "heartbeat") return success({ answers: this.beat(args) });
    if (call === "complete" && args.later === true) return success({ answers: [], jobs: [] });
    return this.numbered(call, args);
  }

  private numbered(call: string, args: Json): Answer {
    const { callSeq: n } = args;
    this.rules.checkNumber({
      call,
      n,
      last: this.n,
      isOpen: this.open !== undefined,
      hasLeft: this.left,
    });
    this.open = { n, args };
    const trouble = call === "complete" ? this.troubleOf(args) : undefined;
    if (trouble === "refused") {
      // The next call has this number, with other contents.
      this.rules.answered(n);
      return failed("The callback threw.");
    }
    if (trouble === "unavailable") return this.unanswered({ kind: "unavailable" }, args);
    this.rules.checkRepeat(n, args);
    if (n > this.n) {
      this.n = n;
      this.reply = call === "claim" ? this.claim(args) : this.complete(args);
    }
    // A claim or completion is a beat for all leases of the session.
    this.renewAll();
    const isLost = trouble === "lost" || (call === "claim" && this.claimsLost-- > 0);
    if (isLost) return this.unanswered({ kind: "lost" }, args);
    this.rules.answered(n);
    const late = this.wasTended ? {} : { isLate: true };
    return success({ ...this.reply, session: "session", cursor: "{}", ...late });
  }

  private unanswered(answer: Answer, args: Json): Answer {
    this.rules.unanswered(args.callSeq, args);
    return answer;
  }

  private troubleOf({ finished }: Json): "lost" | "unavailable" | "refused" | undefined {
    for (const { id } of finished as Lease[]) {
      const script = this.scripts.get(id)?.complete;
      if (script === undefined) continue;
      for (const kind of ["refused", "lost", "unavailable"] as const) {
        if ((script[kind] ?? 0) === 0) continue;
        script[kind] = script[kind]! - 1;
        return kind;
      }
    }
    return undefined;
  }

  // --- Jobs ---------------------------------------------------------------------------------------

  private claim({ max, queues }: Json): Json {
    this.rules.checkClaim({ max, queues, queue: QUEUE });
    const jobs: Json[] = [];
    while (jobs.length < max && this.waiting.length > 0)
      jobs.push(this.lease(this.waiting.shift()!));
    return { answers: [], jobs };
  }

  private lease(job: ScriptedJob): Json {
    const { id, payload, leaseMs = LEASE_MS } = job;
    const attempt = (this.attempts.get(id) ?? 0) + 1;
    this.attempts.set(id, attempt);
    this.scripts.set(id, job);
    this.held.set(keyOf({ id, attempt }), { id, attempt, job, renewedAt: Date.now() });
    this.rules.leased({ id, attempt });
    const facts = { failures: 0, resets: attempt - 1, enqueuedAt: 1_700_000_000_000 };
    return { id, queue: QUEUE, payload: { ...payload, url: this.url }, attempt, leaseMs, ...facts };
  }

  private complete({ finished, held = [], claim }: Json): Json {
    const answers = (finished as Json[]).map((one) => this.record(one));
    if (this.waiting.length === 0 && this.held.size === 0)
      this.waiting.push(...(this.later.shift() ?? []));
    const jobs = claim === undefined ? [] : this.claim(claim).jobs;
    return { answers, jobs, held: this.beat({ leases: held }) };
  }

  private record({ id, attempt, queue, outcome }: Json): Json {
    const lease = { id, attempt };
    const held = this.held.get(keyOf(lease));
    this.rules.checkOutcome({ ...lease, queue, outcome }, QUEUE);
    if (held === undefined) {
      const isThere = this.recorded.some((one) => one.id === id && one.attempt === attempt);
      return { ...lease, answer: isThere ? "recorded" : "leaseLost" };
    }
    this.held.delete(keyOf(lease));
    if (outcome.kind === "released") this.waiting.push(held.job);
    else this.recorded.push({ ...lease, outcome });
    return { ...lease, answer: "ok" };
  }

  private beat({ leases, leaving }: Json): Json[] {
    if (leaving !== undefined) {
      this.rules.checkGoodbye({ leaving, last: this.n, held: this.held.size });
      this.left = true;
    }
    if (leases.length > 0) this.renewAll();
    return (leases as Lease[]).map(({ id, attempt }) => {
      const isHeld = this.held.has(keyOf({ id, attempt }));
      const answer = !isHeld ? "leaseLost" : this.canceled.has(id) ? "canceled" : "ok";
      if (answer === "leaseLost") this.rules.toldLost({ id, attempt });
      return { id, attempt, answer };
    });
  }

  private renewAll(): void {
    for (const held of this.held.values()) held.renewedAt = Date.now();
  }

  private report({ updates = [], logs = [], output = [] }: Json): Answer {
    const all: Json[] = [...updates, ...logs, ...output];
    this.rules.checkReport({ logs, output });
    const script = this.scripts.get(all[0]?.id);
    if ((script?.reportsLost ?? 0) > 0) {
      script!.reportsLost! -= 1;
      return { kind: "lost" };
    }
    const isHeld = (one: Lease) => this.held.has(keyOf(one));
    this.reported.push({ logs: logs.filter(isHeld), output: output.filter(isHeld) });
    const leases = [
      ...new Map(all.map(({ id, attempt }) => [keyOf({ id, attempt }), { id, attempt }])).values(),
    ];
    const answers = leases.map((lease) => {
      const last = output.filter((one: Json) => one.id === lease.id).at(-1);
      const next = last === undefined ? {} : { nextIndex: last.index + 1 };
      return { ...lease, answer: isHeld(lease) ? "ok" : "leaseLost", ...next };
    });
    return success({ answers });
  }

  private watch({ kind, naming = false }: Json): Json {
    if (kind === "hello") return { protocol: 1, version: "conformance" };
    if (kind === "peek") return [];
    if (kind === "cancellations") {
      const leases = [...this.held.values()].map(({ id, attempt }) => ({ id, attempt }));
      return leases.filter(({ id }) => this.canceled.has(id));
    }
    const jobs = this.waiting.map(({ id }) => ({ id }));
    return naming ? { jobs, more: false } : jobs.length > 0;
  }

  // --- Handlers -----------------------------------------------------------------------------------

  private handlerSays(what: string, lease: Lease): void {
    this.rules.checkLeases(this.held.values());
    if (what === "ended") return this.rules.ended(lease);
    this.rules.begun(lease, this.held.get(keyOf(lease)));
    const script = this.scripts.get(lease.id);
    if (script?.cancelAfterMs !== undefined) {
      setTimeout(() => this.canceled.add(lease.id), script.cancelAfterMs);
    }
    if (script?.loseAfterMs === undefined || lease.attempt > 1) return;
    setTimeout(() => {
      this.held.delete(keyOf(lease));
      this.waiting.unshift(script);
    }, script.loseAfterMs);
  }
}

type Answer = { kind: "answered"; body: Json } | { kind: "lost" } | { kind: "unavailable" };

function success(value: Json): Answer {
  return { kind: "answered", body: { status: "success", value, logLines: [] } };
}

function failed(errorMessage: string, errorData?: Json): Answer {
  const data = errorData === undefined ? {} : { errorData };
  return { kind: "answered", body: { status: "error", errorMessage, ...data } };
}

function leaseIn(url: URL): Lease {
  return {
    id: url.searchParams.get("job") ?? "",
    attempt: Number(url.searchParams.get("attempt")),
  };
}
