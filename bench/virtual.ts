/** Virtual time: how much of it a second of this machine plays, for a fleet with nothing to do and one under load. */
import path from "node:path";
import { api } from "../tests/support/app/convex/_generated/api.js";
import { linkPackage } from "../tests/support/link.js";
import { root } from "../tests/support/paths.js";
import { bundleApp } from "../local/virtual/appBundle.js";
import { createVirtualClock } from "../local/virtual/clock.js";
import { createWorld, type World } from "../local/virtual/world.js";
import { jobCalls } from "../src/shared/index.js";

const sums = jobCalls(api.sums);

const APP = path.join(root, "tests/support/app");
const WORKERS = 4;

interface Measured {
  "simulated s": number;
  "real s": number;
  "simulated s / real s": number;
  "events / real s": number;
}

async function measure(
  clock: { now(): number; readonly events: number },
  run: () => Promise<void>,
): Promise<Measured> {
  const [startedAt, from, events] = [performance.now(), clock.now(), clock.events];
  await run();
  const real = (performance.now() - startedAt) / 1_000;
  const simulated = (clock.now() - from) / 1_000;
  return {
    "simulated s": Math.round(simulated),
    "real s": Math.round(real * 100) / 100,
    "simulated s / real s": Math.round(simulated / real),
    "events / real s": Math.round((clock.events - events) / real),
  };
}

/** The clock alone: a thousand sleepers among ten thousand timers that never ring. */
async function bareClock(seconds: number): Promise<Measured> {
  const clock = createVirtualClock({ seed: 1 });
  for (let i = 0; i < 10_000; i++) clock.timer(1e9 + i, () => {});
  const sleeper = async (): Promise<void> => {
    for (;;) await clock.sleep(clock.random() * 10);
  };
  for (let i = 0; i < 1_000; i++) void sleeper();
  return measure(clock, () => clock.advance(seconds * 1_000));
}

async function fleet(): Promise<World> {
  linkPackage(APP);
  const app = await bundleApp(APP, { inputs: [path.join(root, "dist")] });
  const world = await createWorld({ seed: 1, runner: { carried: [".callbackHandle"] } });
  await world.push(app);
  const { token } = await world.call("tokens:create", { name: "fleet", queues: null });
  for (let i = 0; i < WORKERS; i++) {
    await world.program(path.join(APP, "worker.ts"), {
      name: `worker ${i}`,
      env: {
        CONVEX_URL: world.url,
        CONVEYOR_TOKEN: token,
        WORKER_NAME: `worker ${i}`,
        WORKER_CONCURRENCY: "8",
      },
    });
  }
  await world.advance(5_000);
  return world;
}

async function idle(seconds: number): Promise<Measured> {
  const world = await fleet();
  const measured = await measure(world.clock, () => world.advance(seconds * 1_000));
  await world.close();
  return measured;
}

/** Jobs of half a second each, enqueued all at once. */
async function load(jobs: number): Promise<Measured> {
  const world = await fleet();
  const client = world.httpClient();
  const measured = await measure(world.clock, async () => {
    for (let left = jobs; left > 0; left -= 200) {
      const payloads = Array.from({ length: Math.min(left, 200) }, (_, n) => ({ n, workMs: 500 }));
      await world.run(client.mutation(...sums.enqueueMany("sums", payloads)));
    }
    await drained(world, jobs);
  });
  await world.close();
  return measured;
}

/** Long jobs: the run is mostly beats and waiting. */
async function longJobs(jobs: number, workMs: number): Promise<Measured> {
  const world = await fleet();
  const client = world.httpClient();
  const measured = await measure(world.clock, async () => {
    const payloads = Array.from({ length: jobs }, (_, n) => ({ n, workMs }));
    await world.run(client.mutation(...sums.enqueueMany("sums", payloads)));
    await drained(world, jobs);
  });
  await world.close();
  return measured;
}

/** Asked now and then: a subscription would read all that is done whenever anything is. */
async function drained(world: World, jobs: number): Promise<void> {
  const client = world.httpClient();
  while ((await world.run(client.query(api.done.count, {}))) < jobs) await world.advance(2_000);
}

export async function virtualTime({ smoke }: { smoke: boolean }): Promise<void> {
  const table: Record<string, Measured> = {
    "the clock alone": await bareClock(smoke ? 1 : 5),
    "4 idle workers": await idle(smoke ? 60 : 3_600),
    "4 workers, jobs of 10 s": await longJobs(smoke ? 8 : 128, 10_000),
    "4 workers, jobs of 0.5 s": await load(smoke ? 40 : 1_000),
  };
  console.log("Virtual time");
  console.table(table);
}
