/** Fifty claims of fifty jobs at once, of the real queue and of a naive one, on the local backend in virtual time. */
import path from "node:path";
import { expect } from "vitest";
import { api } from "../support/app/convex/_generated/api.js";
import { linkPackage } from "../support/link.js";
import { root } from "../support/paths.js";
import { Session } from "../support/session.js";
import { bundleApp, type AppBundle } from "../../local/virtual/appBundle.js";
import { createWorld, type World } from "../../local/virtual/world.js";
import { jobCalls } from "../../src/shared/index.js";

const APP = path.join(root, "tests/support/app");
const CLAIMERS = 50;

export async function bundleClaimed(): Promise<AppBundle> {
  linkPackage(APP);
  return await bundleApp(APP, { inputs: [path.join(root, "dist")] });
}

/** The component loses less than a plain `first()`, and neither hands anything out twice. */
export async function compare(app: AppBundle, seed: number): Promise<void> {
  const { ids, claimed, conflicts } = await claimAll(app, seed);
  expect(new Set(claimed).size).toBe(claimed.length);
  expect(new Set(claimed)).toEqual(new Set(ids));

  const naive = await takeNaively(app, seed);
  console.log(
    `${claimed.length} jobs claimed: ${conflicts} conflicts; naively: ${naive.conflicts}`,
  );
  expect(naive.conflicts).toBeGreaterThan(0);
  expect(conflicts).toBeLessThan(naive.conflicts);
  expect(new Set(naive.taken).size).toBe(naive.taken.length);
}

export async function takeNaively(
  app: AppBundle,
  seed: number,
  options: { skipValidation?: boolean } = {},
): Promise<{ taken: string[]; conflicts: number }> {
  return await inWorld(app, { seed, ...options }, async (world) => {
    await world.run(world.httpClient().mutation(api.naive.fill, { count: CLAIMERS }));
    const conflicts = countConflicts(world, "naive:take");
    const taken = await everyone(world, (i) =>
      // An exhausted retry is an answer too: that caller took nothing.
      world
        .httpClient()
        .mutation(api.naive.take, { by: `naive-${i}` })
        .catch(() => null),
    );
    return { taken: taken.filter((id) => id !== null), conflicts: conflicts() };
  });
}

async function claimAll(
  app: AppBundle,
  seed: number,
): Promise<{ ids: string[]; claimed: string[]; conflicts: number }> {
  return await inWorld(app, { seed }, async (world) => {
    const { token } = await world.call("tokens:create", { name: "test", queues: null });
    const payloads = Array.from({ length: CLAIMERS }, (_, n) => ({ n }));
    const ids = await world.run(
      world.httpClient().mutation(...jobCalls(api.races).enqueueMany("races", payloads)),
    );
    // Every shard's jobs have waited so long that any claimer takes them.
    await world.advance(250);
    const conflicts = countConflicts(world, "claim");
    const claimed = await everyone(world, (i) =>
      claimOne(world, new Session(world.httpClient(), token, `claimer-${i}`, "races")),
    );
    return { ids, claimed: claimed.flat(), conflicts: conflicts() };
  });
}

async function inWorld<T>(
  app: AppBundle,
  options: { seed: number; skipValidation?: boolean },
  what: (world: World) => Promise<T>,
): Promise<T> {
  const world = await createWorld(options);
  try {
    await world.push(app);
    return await what(world);
  } finally {
    await world.close();
  }
}

/** Conflicts from now on, of functions with a matching path. */
function countConflicts(world: World, functionPath: string): () => number {
  let conflicts = 0;
  world.backend.runner.onCompletion((completion) => {
    if (completion.address.path.includes(functionPath)) conflicts += completion.conflicts;
  });
  return () => conflicts;
}

const everyone = <T>(world: World, ask: (i: number) => Promise<T>): Promise<T[]> =>
  world.run(Promise.all(Array.from({ length: CLAIMERS }, (_, i) => ask(i))));

/**
 * As a worker does: an empty claim is repeated, since jobs in another worker's shard are left to it for a while, and a call that
 * the platform gave up on is sent again.
 */
async function claimOne(world: World, session: Session): Promise<string[]> {
  for (let n = 1; ; await world.clock.sleep(50)) {
    try {
      const { jobs } = await session.claim(1, n);
      if (jobs.length > 0) return jobs.map(({ id }) => id);
      n += 1;
    } catch (error) {
      if (!/OptimisticConcurrencyControlFailure|TooManyConcurrent/.test(String(error))) throw error;
    }
  }
}
