/** A crew of worker processes behind a network, jobs for them, and a count of how they ended. */
import { expect } from "vitest";
import { api } from "../support/app/convex/_generated/api.js";
import { LEASE_MS } from "../support/app/convex/queues.js";
import { until } from "../../local/until.js";
import { killAll, startWorker, type WorkerProcess } from "../support/workers.js";
import { REPEAT_MAX_MS } from "../../src/worker/limits.js";
import { STORE_RETRY } from "../../local/engine/limits.js";
import { Deployment } from "./deployment.js";
import { Network } from "./network.js";

const WORK_MS = 150;
const CONCURRENCY = 8;
const CREW = 4;
const A_CALL = 500;
/** A lost lease is noticed so long after its end. */
const NOTICED_MS = 1_000;
/** The client tries again after up to so long, when its socket was cut. */
const SOCKET_MAX_MS = 16_000;
/** For all processes together, per job, on two cores that do other things too. */
const COMPUTING_MS = 40;

/** Resolves when workers have finished so large a share of the run's jobs. */
export type Progress = (share: number) => Promise<void>;

export interface Count {
  enqueued: number;
  succeeded: number;
  attempts: number;
  effects: number;
  leasesLost: number;
  workers: number;
  events: Record<string, number>;
}

export class Chaos {
  #token = "";
  #crew: WorkerProcess[] = [];
  /** With the killed ones. */
  readonly #all: WorkerProcess[] = [];
  #next = 0;
  /** Of the run that goes on. */
  #ids: string[] = [];

  private constructor(
    readonly deployment: Deployment,
    readonly network: Network,
  ) {}

  static async start(options: { seed: number; clockShiftMs: number }): Promise<Chaos> {
    const deployment = await Deployment.start(options.clockShiftMs);
    const network = await Network.before(deployment.url, options.seed);
    const chaos = new Chaos(deployment, network);
    try {
      chaos.#token = await deployment.app.token();
      return chaos;
    } catch (error) {
      await chaos.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.dismiss();
    await this.network.close();
    await this.deployment.close();
  }

  async hire(name: string, clockShiftMs = 0): Promise<void> {
    const { url } = this.network;
    const options = { url, token: this.#token, concurrency: CONCURRENCY, clockShiftMs };
    const worker = startWorker({ ...options, name: `${name}-${this.#all.length}` });
    this.#crew.push(worker);
    this.#all.push(worker);
    await worker.line(({ event }) => event?.kind === "started");
  }

  /** As many as are missing. */
  async hireFour(): Promise<void> {
    const missing = Array.from({ length: CREW - this.#crew.length }, () => this.hire("worker"));
    await Promise.all(missing);
  }

  async dismiss(): Promise<void> {
    await killAll(this.#crew.splice(0));
  }

  /** One that holds jobs, and another comes in its place. */
  async killOne(): Promise<void> {
    const worker = await this.#holding(this.#crew);
    this.#crew = this.#crew.filter((one) => one !== worker);
    await killAll([worker]);
    await this.hire("worker");
  }

  /** They stand still, as in a laptop that is closed, and go on. Resolves when one of them has seen that it lost a lease. */
  async sleep(which: readonly number[], ms: number): Promise<void> {
    const workers = which.map((i) => this.#crew[i]!);
    const lost = () =>
      workers.flatMap(({ lines }) => lines).filter(({ event }) => event?.kind === "leaseLost")
        .length;
    const before = lost();
    await this.#holding(workers);
    for (const { process } of workers) process.kill("SIGSTOP");
    await pause(ms);
    for (const { process } of workers) process.kill("SIGCONT");
    await until(
      async () => lost(),
      (count) => count > before,
    );
  }

  /** One of these workers, as soon as it holds jobs. Where all jobs have ended, the run is given more of them first. */
  async #holding(workers: readonly WorkerProcess[]): Promise<WorkerProcess> {
    const holds = ({ lines }: WorkerProcess) =>
      lines.filter(({ started }) => started !== undefined).length -
      lines.filter(({ finished }) => finished !== undefined).length;
    const found = await until(
      async () => {
        const one = workers.find((each) => holds(each) > 0);
        const jobs = this.#ids.length;
        if (one === undefined && this.#finished(this.#next - jobs, jobs) === jobs)
          await this.#enqueue(CREW * CONCURRENCY);
        return one;
      },
      (one) => one !== undefined,
    );
    return found!;
  }

  async fullDisk(ms: number): Promise<void> {
    this.deployment.diskIs("full");
    await pause(ms);
    this.deployment.diskIs("free");
  }

  /** Enqueues so many jobs, lets `harm` run meanwhile, waits until all have ended, and counts. */
  async run(
    name: string,
    jobs: number,
    harm: (progress: Progress) => Promise<void>,
  ): Promise<Count> {
    const from = this.#next;
    const before = this.#events(new Set());
    this.#ids = [];
    await this.#enqueue(jobs);
    await harm(async (share) => {
      await until(
        async () => this.#finished(from, jobs),
        (finished) => finished >= share * jobs,
        boundMs(jobs),
      );
    });
    const harmed = performance.now();
    const ids = this.#ids;
    const all = ids.length;
    const left = all - this.#finished(from, all);
    const rows = await until(
      () => this.#done(from, all),
      (done) => new Set(done.map(({ n }) => n)).size === all,
      boundMs(left),
    );
    const ms = performance.now() - harmed;

    const succeeded = rows.filter(({ status }) => status === "succeeded");
    const attempts = rows.reduce((sum, { attempt }) => sum + attempt, 0);
    const events = this.#events(new Set(ids));
    for (const kind of Object.keys(events)) events[kind]! -= before[kind] ?? 0;
    const count: Count = {
      enqueued: ids.length,
      succeeded: succeeded.length,
      attempts,
      effects: rows.length,
      // No handler throws: each further attempt follows a lease that was lost.
      leasesLost: attempts - rows.length,
      workers: new Set(rows.map(({ worker }) => worker)).size,
      events,
    };
    console.log(
      `${name}: ${Object.entries(count)
        .map(([what, n]) => (typeof n === "number" ? `${n} ${what}` : shown(n)))
        .join(", ")}; ended ${ms.toFixed()} ms after the last harm, of ${boundMs(left)}`,
    );
    expect(rows.map(({ job }) => job).sort()).toEqual([...ids].sort());
    expect(count.succeeded).toBe(all);
    expect(this.#begunTwice()).toEqual([]);
    return count;
  }

  async #enqueue(count: number): Promise<void> {
    const { client } = this.deployment.app;
    const end = this.#next + count;
    while (this.#next < end) {
      const batch = { from: this.#next, count: Math.min(A_CALL, end - this.#next) };
      this.#next += batch.count;
      const enqueued = await client.mutation(api.chaos.enqueue, { ...batch, workMs: WORK_MS });
      this.#ids.push(...enqueued);
    }
  }

  #lines() {
    return this.#all.flatMap(({ lines }) => lines);
  }

  #finished(from: number, jobs: number): number {
    const finished = this.#lines().filter((line) => line.finished !== undefined);
    const numbers = finished.map(({ n }) => n!).filter((n) => n >= from && n < from + jobs);
    return new Set(numbers).size;
  }

  #begunTwice(): string[] {
    const begun = this.#lines().filter(({ started }) => started !== undefined);
    const seen = new Set<string>();
    return begun
      .map(({ started, attempt }) => `${started} ${attempt}`)
      .filter((attempt) => seen.size === seen.add(attempt).size);
  }

  /** So far: of these jobs, and of none. */
  #events(ids: ReadonlySet<unknown>): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { event } of this.#lines())
      if (event !== undefined && (event["id"] === undefined || ids.has(event["id"])))
        counts[event.kind] = (counts[event.kind] ?? 0) + 1;
    return counts;
  }

  /** The backend may be on its way back. */
  async #done(from: number, jobs: number) {
    const { client } = this.deployment.app;
    const parts: { job: string; n: number; status: string; attempt: number; worker?: string }[] =
      [];
    for (let n = from; n < from + jobs; n += A_CALL) {
      const count = Math.min(A_CALL, from + jobs - n);
      parts.push(...(await client.query(api.chaos.done, { from: n, count })));
    }
    return parts;
  }
}

/**
 * From the last harm until so many jobs have ended. A lease that is lost is noticed a second after its end, and its job is
 * begun again; a call without an answer is repeated after ten seconds at the latest, and a commit that could not be stored
 * likewise; a cut socket is opened again; and the work itself takes its time.
 */
function boundMs(jobs: number): number {
  const promised = LEASE_MS + NOTICED_MS + REPEAT_MAX_MS + STORE_RETRY.maxMs + SOCKET_MAX_MS;
  const turns = Math.ceil(jobs / (CREW * CONCURRENCY)) + 1;
  return promised + turns * WORK_MS + jobs * COMPUTING_MS;
}

function shown(counts: Record<string, number>): string {
  const parts = Object.entries(counts).filter(([, n]) => n > 0);
  return `events ${parts.map(([kind, n]) => `${kind} ${n}`).join(" ") || "none"}`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
