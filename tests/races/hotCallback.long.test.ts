/**
 * A callback that patches a row which the whole app patches all the time. Inside the transaction of an outcome it loses its
 * conflicts, and no `try` can catch that: the outcome would wait until the app is quiet. It must not: recorded with its callback
 * owed, it stands at once, and the callback runs alone, where it is retried for ever, exactly once.
 * `tests/e2e/hotWorker.long.test.ts` shows that a worker comes to ask for this by itself.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { Session, squared } from "../support/session.js";
import { api } from "../support/app/convex/_generated/api.js";
import {
  enqueued,
  startHotApp,
  startLoad,
  TEST_TIMEOUT_MS,
  toldOf,
  type HotApp,
} from "./hotRow.js";
import { jobCalls } from "../../src/shared/index.js";

let app: HotApp;
let conflicts = 0;

beforeAll(async () => {
  app = await startHotApp();
  app.backend.runner.onCompletion((completion) => {
    if (completion.address.path.includes("work:complete")) conflicts += completion.conflicts;
  });
});
afterAll(() => app?.close());

async function claimAll(session: Session, count: number) {
  const jobs: Awaited<ReturnType<Session["claimed"]>> = [];
  while (jobs.length < count) jobs.push(...(await session.claimed(count - jobs.length)));
  return jobs;
}

async function statuses(ids: string[]): Promise<(string | undefined)[]> {
  return await Promise.all(
    ids.map(async (id) => (await app.client.query(...jobCalls(api.hot).status(id)))?.status),
  );
}

// In CI `hotRow.long.test.ts` has such a callback beside a lane.
test.skipIf(counts(true, false))(
  "outcomes with a callback that conflicts all the time are recorded in one call that owes it",
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const all = await enqueued(app, 16);
    const session = new Session(app.url, app.workerToken, "by hand", "hot");
    const jobs = await claimAll(session, all.length);
    const finished = jobs.map(({ id, attempt }) => ({ id, attempt, outcome: squared(1) }));
    const controls = finished.splice(0, 8);
    const ids = finished.map(({ id }) => id);
    const load = await startLoad(app);
    try {
      // The control: run inline, the callback's conflicts are the outcome's.
      for (const control of controls) {
        if (conflicts > 0) break;
        await session.complete([control], session.n + 1).then(
          () => (session.n += 1),
          () => undefined,
        );
      }
      expect(conflicts).toBeGreaterThan(0);
      conflicts = 0;

      const { answers } = await app.client.mutation(api.work.complete, {
        ...{
          token: app.workerToken,
          sessionKey: session.id,
          callSeq: session.n + 1,
          finished,
          deferCallbacks: true,
        },
      });
      expect(answers.map(({ answer }) => answer)).toEqual(ids.map(() => "ok"));
      expect(await statuses(ids)).toEqual(ids.map(() => "succeeded"));
      expect(load.isRunning(), "the app was busy all the while").toBe(true);
      console.log(`8 outcomes with callbacks owed: ${conflicts} conflicts, ${load.bumps()} bumps`);
    } finally {
      await load.stop();
    }
    expect(await toldOf(app, ids)).toEqual(ids.map(() => 1));
  },
);
