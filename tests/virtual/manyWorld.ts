/**
 * For tests: a world with many queues of jobs that Convex itself runs, in virtual time, seen from outside only: when a job's
 * handler began and ended, how many ran at once, and how long the app's own scheduled functions waited.
 */
import path from "node:path";
import type { ConvexHttpClient } from "convex/browser";
import { makeFunctionReference } from "convex/server";
import { linkPackage } from "../support/link.js";
import { root } from "../support/paths.js";
import { COMPONENT_VERSION } from "../../src/shared/index.js";
import type { DeploymentClass } from "../../local/functions/classes.js";
import { bundleApp, type AppBundle } from "../../local/virtual/appBundle.js";
import { evaluatedApp } from "../../local/virtual/evaluatedApp.js";
import { keepSandboxes } from "../../local/virtual/keptSandboxes.js";
import { createWorld, type World } from "../../local/virtual/world.js";

const APP = path.join(root, "tests/virtual/app-many");
const SANDBOXES = keepSandboxes({ contexts: "reused" });

export interface ManyOptions {
  queues: number;
  seed?: number;
  /** Defaults to "s16". */
  class?: DeploymentClass;
  /** Of each queue. Defaults to 10. */
  maxParallelism?: number;
  /** How long jobs that have succeeded are kept. Defaults to a day. */
  retentionMs?: number;
  /** How often a job is retried after its process has died. Defaults to 0. */
  maxResets?: number;
  /** All queues have one inline handler. */
  isInline?: boolean;
  /** The share of the scheduler's slots that each of two mounts may take. Defaults to the component's default. */
  schedulerShare?: number;
}

export interface Job {
  queue: number;
  ms: number;
  /** How long an attempt may run. Defaults to the component's default. */
  timeoutMs?: number;
  /** Of two mounts the second is 1. Defaults to 0. */
  mount?: number;
}
export interface Arrival extends Job {
  /** From now, in milliseconds. Defaults to 0. */
  at?: number;
}

/** As many jobs of the same kind, all at once. */
export function times(jobs: number, job: Arrival): Arrival[] {
  return Array.from({ length: jobs }, () => job);
}

/** As many jobs, one after the other, the first after `fromMs`. */
export function every(everyMs: number, jobs: number, job: Job, fromMs = 0): Arrival[] {
  return Array.from({ length: jobs }, (_, i) => ({ ...job, at: fromMs + i * everyMs }));
}

type What = "enqueued" | "began" | "ended" | "scheduled" | "came";
/** Instants by number: of a job, or of the app's own functions. */
type Times = Map<number, number>;
const SAID = /(enqueued|began|ended|scheduled|came) (\d+)/g;

export class ManyWorld {
  /** The commit that brought the job in, its handler's first line and its last. */
  readonly enqueued: Times = new Map();
  readonly began: Times = new Map();
  readonly ended: Times = new Map();
  /** The commit that scheduled the app's own function for now, and that function's run. */
  readonly scheduled: Times = new Map();
  readonly came: Times = new Map();
  /** The most handlers that ran at one moment. */
  most = 0;
  private running = 0;
  private jobs = 0;
  private readonly callers: ConvexHttpClient;

  constructor(readonly world: World) {
    this.callers = world.httpClient("callers");
    world.backend.runner.onLog(({ text }) => {
      for (const [, what, n] of text.matchAll(SAID)) this.note(what as What, Number(n));
    });
  }

  private note(what: What, n: number): void {
    if (!this[what].has(n)) this[what].set(n, this.world.now());
    if (what === "began") this.most = Math.max(this.most, ++this.running);
    if (what === "ended") this.running -= 1;
  }

  /** Calls a mutation of the app. */
  async call(name: string, args: Record<string, unknown>): Promise<void> {
    const mutation = makeFunctionReference<"mutation">(`many:${name}`);
    await this.callers.mutation(mutation, args, { skipQueue: true });
  }

  /** A query of the app's, asked without a network. */
  async ask<Answer>(name: string, args: Record<string, unknown>): Promise<Answer> {
    return (await this.world.call(`many:${name}`, args)) as Answer;
  }

  /**
   * Enqueues each job at its time, jobs of one queue and one instant in one mutation, and runs the world until the last of them
   * is in. Returns the jobs' numbers.
   */
  async enqueue(arrivals: readonly Arrival[]): Promise<number[]> {
    const numbered = arrivals.map((job) => ({ mount: 0, at: 0, ...job, n: this.jobs++ }));
    const calls = new Map<string, typeof numbered>();
    for (const job of numbered) {
      const key = `${job.mount} ${job.queue} ${job.at}`;
      calls.set(key, [...(calls.get(key) ?? []), job]);
    }
    const send = async ([first, ...rest]: typeof numbered): Promise<void> => {
      const { at, mount, queue, timeoutMs } = first!;
      await this.world.clock.sleep(at);
      const works = [first!, ...rest].map(({ n, ms }) => ({ n, ms }));
      const rules = timeoutMs === undefined ? {} : { timeoutMs };
      await this.call("enqueue", { mount, queue, works, ...rules });
    };
    await this.world.run(Promise.all([...calls.values()].map(send)));
    return numbered.map(({ n }) => n);
  }

  /** The app's own `runAfter(0)`, as many as there are intervals in the time, which passes. */
  async scheduleOwn(everyMs: number, forMs: number): Promise<void> {
    const schedule = async (n: number): Promise<void> => {
      await this.world.clock.sleep(n * everyMs);
      await this.call("scheduleOwn", { n });
    };
    const count = Math.floor(forMs / everyMs);
    await this.world.run(Promise.all(Array.from({ length: count }, (_, n) => schedule(n))));
  }

  /** How long each waited from its enqueue to its handler's first line, in milliseconds; of a job that waits still, so far. */
  waits(jobs: readonly number[]): number[] {
    return jobs.map((n) => between(this.enqueued, this.began, n, this.world.now()));
  }

  /** The same of the app's own scheduled functions. */
  ownWaits(): number[] {
    const asked = [...this.scheduled.keys()];
    return asked.map((n) => between(this.scheduled, this.came, n, this.world.now()));
  }

  /** Attempts of transactions that lost to another, all functions together. */
  get conflicts(): number {
    const { functions } = this.world.stats.snapshot();
    return Object.values(functions).reduce((sum, { conflicts }) => sum + conflicts, 0);
  }
}

function between(from: Times, to: Times, n: number, now: number): number {
  return (to.get(n) ?? now) - from.get(n)!;
}

/** The value below which 95 of 100 are. */
export function p95(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1]!;
}

async function bundleMany(): Promise<AppBundle> {
  return await bundleApp(APP, { inputs: [path.join(root, "dist")] });
}

/** A deploy: of the same app, and of another version of the component where one is named. */
export async function deployAgain(
  { world }: ManyWorld,
  version = COMPONENT_VERSION,
): Promise<void> {
  const text = JSON.stringify(await bundleMany());
  /** As it stands in a bundle, under any name. */
  const named = (of: string) => ` = \\"${of}\\"`;
  // The component names it, and the app's own functions for workers do.
  if (!text.includes(named(COMPONENT_VERSION)))
    throw new Error("The bundle does not name its version.");
  const next = text.replaceAll(named(COMPONENT_VERSION), named(version));
  await world.push(JSON.parse(next) as AppBundle);
}

export async function startManyWorld(options: ManyOptions): Promise<ManyWorld> {
  linkPackage(APP);
  const app = await bundleMany();
  const { queues, seed = 1, class: deploymentClass = "s16", ...given } = options;
  const variables = {
    QUEUES: queues,
    PARALLELISM: given.maxParallelism,
    RETENTION_MS: given.retentionMs,
    SCHEDULER_SHARE: given.schedulerShare,
    MAX_RESETS: given.maxResets,
    INLINE: given.isInline,
  };
  const said = Object.entries(variables).filter(([, value]) => value !== undefined);
  const environment = Object.fromEntries(said.map(([name, value]) => [name, String(value)]));
  const world = await createWorld({
    seed,
    class: deploymentClass,
    deployment: await evaluatedApp(app, environment),
    runner: { sandboxes: SANDBOXES },
    variables: environment,
  });
  return new ManyWorld(world);
}
