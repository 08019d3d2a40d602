/**
 * For tests: a fleet of the test app's workers drains its queue in virtual time, and one of them is killed. The app is
 * pushed as the official CLI bundles it, and the workers are the program that other tests start as a process.
 */
import path from "node:path";
import { api } from "../support/app/convex/_generated/api.js";
import { linkPackage } from "../support/link.js";
import { root } from "../support/paths.js";
import { bundleApp } from "../../local/virtual/appBundle.js";
import type { Program } from "../../local/virtual/program.js";
import { createWorld, type World } from "../../local/virtual/world.js";
import { jobCalls } from "../../src/shared/index.js";

const APP = path.join(root, "tests/support/app");
const WORKER = path.join(APP, "worker.ts");
const WORKERS = 4;
/** A queue keeps the handle of its callback, which is always the same. */
const CARRIED = [".callbackHandle"];

interface Done {
  job: string;
  n: number;
  attempt: number;
}

async function startWorker(world: World, token: string, name: string): Promise<Program> {
  const env = {
    CONVEX_URL: world.url,
    CONVEYOR_TOKEN: token,
    WORKER_NAME: name,
    WORKER_CONCURRENCY: "8",
  };
  return world.program(WORKER, { name, env });
}

export interface Played {
  done: Done[];
  simulatedMs: number;
  /** The ids of the jobs that the killed worker held. */
  orphans: string[];
  digest: string;
}

/** A world with the app, a queue with so many jobs of half a second, and a token for its workers. */
async function begin(seed: number, jobs: number): Promise<{ world: World; token: string }> {
  linkPackage(APP);
  const app = await bundleApp(APP, { inputs: [path.join(root, "dist")] });
  const world = await createWorld({ seed, trace: true, runner: { carried: CARRIED } });
  await world.push(app);
  const { token } = (await world.call("tokens:create", { name: "fleet", queues: null })) as {
    token: string;
  };
  const client = world.httpClient();
  for (let n = 0; n < jobs; n += 200) {
    const payloads = Array.from({ length: Math.min(200, jobs - n) }, (_, i) => ({
      n: n + i,
      workMs: 500,
    }));
    await world.run(client.mutation(...jobCalls(api.sums).enqueueMany("sums", payloads)));
  }
  return { world, token };
}

/** The time that so many workers take for all jobs. */
export async function drain(seed: number, jobs: number, workers: number): Promise<number> {
  const { world, token } = await begin(seed, jobs);
  const startedAt = world.now();
  for (let i = 0; i < workers; i++) await startWorker(world, token, `worker ${i}`);
  const client = world.httpClient();
  while ((await world.run(client.query(api.done.count, {}))) < jobs) await world.advance(500);
  const tookMs = world.now() - startedAt;
  await world.close();
  return tookMs;
}

export async function play(seed: number, jobs: number): Promise<Played> {
  const { world, token } = await begin(seed, jobs);
  const client = world.httpClient();
  const startedAt = world.now();
  const workers: Program[] = [];
  for (let i = 0; i < WORKERS; i++) workers.push(await startWorker(world, token, `worker ${i}`));
  const recorded = () => workers.flatMap(({ lines }) => lines).filter(isRecorded).length;
  while (recorded() < jobs / 4) await world.advance(500);
  const victim = workers.find((worker) => inHand(worker).length > 0) ?? workers[0]!;
  const orphans = inHand(victim);
  victim.kill();
  // Not a subscription: it would read all that is done whenever anything is.
  while ((await world.run(client.query(api.done.count, {}))) < jobs) await world.advance(2_000);
  const simulatedMs = world.now() - startedAt;
  const done = await world.run(client.query(api.done.list, {}));
  const digest = world.trace.digest();
  await world.close();
  return { done, simulatedMs, orphans, digest };
}

const isRecorded = (line: string): boolean => line.includes(`"kind":"recorded"`);

/** Jobs that it has begun and not finished. */
function inHand({ lines }: Program): string[] {
  const begun = new Set<string>();
  for (const line of lines) {
    const { started, finished } = JSON.parse(line) as { started?: string; finished?: string };
    if (started !== undefined) begun.add(started);
    if (finished !== undefined) begun.delete(finished);
  }
  return [...begun];
}

/** Throws unless every job was done once, and the killed worker's jobs by another. */
export function check({ done, orphans }: Played, jobs: number): void {
  if (done.length !== jobs || new Set(done.map(({ n }) => n)).size !== jobs) {
    throw new Error(`${done.length} outcomes for ${jobs} jobs.`);
  }
  if (orphans.length === 0) throw new Error("The killed worker had nothing in hand.");
  const again = new Set(done.filter(({ attempt }) => attempt > 1).map(({ job }) => job));
  const lost = orphans.filter((orphan) => !again.has(orphan));
  if (lost.length > 0) throw new Error(`No worker took over ${lost.join(", ")}.`);
}
