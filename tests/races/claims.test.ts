/**
 * Fifty claims of fifty jobs at once, on the real component and the local backend in virtual time: no job twice, and
 * fewer conflicts than a naive queue has. With two controls: the same written with a plain `first()` does conflict, and
 * an engine that does not validate hands the same row out twice, so that this test would notice.
 */
import path from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import { api } from "../../harness/app/convex/_generated/api.js";
import { linkPackage } from "../../harness/link.js";
import { root } from "../../harness/paths.js";
import { Session } from "../../harness/session.js";
import { bundleApp, type AppBundle } from "../../local/virtual/appBundle.js";
import { createWorld, type World } from "../../local/virtual/world.js";

const APP = path.join(root, "harness/app");
const CLAIMERS = 50;
const SEEDS = [1, 2, 3];

let app: AppBundle;
let world: World;
beforeAll(async () => {
  linkPackage(APP);
  app = await bundleApp(APP, { inputs: [path.join(root, "dist")] });
});
afterEach(() => world.close());

async function start(seed: number, options: { skipValidation?: boolean } = {}): Promise<void> {
  world = await createWorld({ seed, ...options });
  await world.push(app);
}

/** Conflicts from now on, of functions whose path matches. */
function countConflicts(functionPath: string): () => number {
  let conflicts = 0;
  world.backend.runner.onCompletion((completion) => {
    if (completion.address.path.includes(functionPath)) conflicts += completion.conflicts;
  });
  return () => conflicts;
}

const everyone = <T>(ask: (i: number) => Promise<T>): Promise<T[]> =>
  world.run(Promise.all(Array.from({ length: CLAIMERS }, (_, i) => ask(i))));

/**
 * As a worker does: who comes away empty asks again, since of what is another's not everybody takes at once, and a call
 * that the platform gave up on is sent again.
 */
async function claimOne(session: Session): Promise<string[]> {
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

async function claimAll(
  seed: number,
): Promise<{ ids: string[]; claimed: string[]; conflicts: number }> {
  await start(seed);
  const { token } = await world.call("tokens:create", { name: "test", queues: null });
  const payloads = Array.from({ length: CLAIMERS }, (_, n) => ({ n }));
  const ids = await world.run(world.httpClient().mutation(api.races.enqueueBatch, { payloads }));
  // Every shard's jobs have waited long enough for anybody to take them.
  await world.advance(250);
  const conflicts = countConflicts("claim");
  const claimed = await everyone((i) =>
    claimOne(new Session(world.httpClient(), token, `claimer-${i}`, "races")),
  );
  return { ids, claimed: claimed.flat(), conflicts: conflicts() };
}

async function takeNaively(
  seed: number,
  options = {},
): Promise<{ taken: string[]; conflicts: number }> {
  await start(seed, options);
  await world.run(world.httpClient().mutation(api.naive.fill, { count: CLAIMERS }));
  const conflicts = countConflicts("naive:take");
  const taken = await everyone((i) =>
    // An exhausted retry is an answer too: that caller took nothing.
    world
      .httpClient()
      .mutation(api.naive.take, { by: `naive-${i}` })
      .catch(() => null),
  );
  return { taken: taken.filter((id) => id !== null), conflicts: conflicts() };
}

test.each(SEEDS)(
  "50 concurrent claims of 50 jobs take no job twice, with fewer conflicts than a plain first() has (seed %i)",
  async (seed) => {
    const { ids, claimed, conflicts } = await claimAll(seed);
    expect(new Set(claimed).size).toBe(claimed.length);
    expect(new Set(claimed)).toEqual(new Set(ids));
    await world.close();

    const naive = await takeNaively(seed);
    console.log(
      `${claimed.length} jobs claimed: ${conflicts} conflicts; naively: ${naive.conflicts}`,
    );
    expect(naive.conflicts).toBeGreaterThan(0);
    expect(conflicts).toBeLessThan(naive.conflicts);
    expect(new Set(naive.taken).size).toBe(naive.taken.length);
  },
);

test("control: an engine that skips validation hands rows out twice, and this shows it", async () => {
  const { taken } = await takeNaively(1, { skipValidation: true });
  expect(new Set(taken).size).toBeLessThan(taken.length);
});
