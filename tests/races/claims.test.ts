/**
 * Fifty claims of fifty jobs at once, on the real component and the local backend's engine: no job twice, and fewer
 * conflicts than claims. With two controls: the same written with a plain `first()` does conflict, and an engine that does not
 * validate hands the same row out twice, so that this test would notice.
 */
import { ConvexHttpClient } from "convex/browser";
import { afterEach, expect, test } from "vitest";
import { Session } from "../../harness/session.js";
import { startApp, type TestApp } from "../../harness/testApp.js";
import { api } from "../../harness/app/convex/_generated/api.js";

const CLAIMERS = 50;
let app: TestApp | undefined;
/** Of the first test, for the second to compare with: under the same load, in the same run. */
let ofClaims = Number.NaN;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

/** Conflicts from now on, of functions whose path matches. */
function countConflicts(of: TestApp, path: string): () => number {
  let conflicts = 0;
  of.backend.runner.onCompletion((completion) => {
    if (completion.address.path.includes(path)) conflicts += completion.conflicts;
  });
  return () => conflicts;
}

function takeNaively(of: TestApp): Promise<(string | null)[]> {
  return Promise.all(
    Array.from({ length: CLAIMERS }, async (_, i) =>
      // An exhausted retry is an answer too: that caller took nothing.
      new ConvexHttpClient(of.url).mutation(api.naive.take, { by: `naive-${i}` }).catch(() => null),
    ),
  );
}

test("50 concurrent claims of 50 jobs take no job twice", async () => {
  app = await startApp();
  const token = await app.token();
  const payloads = Array.from({ length: CLAIMERS }, (_, n) => ({ n }));
  const ids = await app.client.mutation(api.races.enqueueBatch, { payloads });
  // Every shard's jobs have waited long enough for anybody to take them.
  await new Promise((resolve) => setTimeout(resolve, 250));
  const conflicts = countConflicts(app, "claim");
  // Who comes away empty asks again, as a worker does: of what is another's, not everybody takes at once.
  const claimed = (
    await Promise.all(
      Array.from({ length: CLAIMERS }, (_, i) =>
        new Session(app!.url, token, `claimer-${i}`, "races").claimed(1),
      ),
    )
  ).flatMap((jobs) => jobs.map((job) => job.id));
  ofClaims = conflicts();
  console.log(`${CLAIMERS} claims: ${claimed.length} jobs, ${ofClaims} conflicts`);
  expect(new Set(claimed).size).toBe(claimed.length);
  expect(new Set(claimed)).toEqual(new Set(ids));
});

test("control: the same with a plain first() conflicts, and still takes no row twice", async () => {
  app = await startApp();
  await app.client.mutation(api.naive.fill, { count: CLAIMERS });
  const conflicts = countConflicts(app, "naive:take");
  const taken = (await takeNaively(app)).filter((id) => id !== null);
  console.log(`${CLAIMERS} naive claims: ${taken.length} rows, ${conflicts()} conflicts`);
  expect(conflicts()).toBeGreaterThan(0);
  expect(ofClaims).toBeLessThan(conflicts());
  expect(new Set(taken).size).toBe(taken.length);
});

test("control: an engine that skips validation hands rows out twice, and this shows it", async () => {
  app = await startApp({ database: { skipValidation: true } });
  await app.client.mutation(api.naive.fill, { count: CLAIMERS });
  const taken = (await takeNaively(app)).filter((id) => id !== null);
  expect(new Set(taken).size).toBeLessThan(taken.length);
});
