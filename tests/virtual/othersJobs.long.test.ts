/**
 * Workers that may take none of the waiting jobs are idle: they scan a few times, are notified of their own jobs, and never poll.
 */
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { root } from "../support/paths.js";
import { startVirtualApp, type VirtualApp } from "../support/virtualApp.js";
import { LOOK_ROWS_MAX } from "../../src/shared/index.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let app: VirtualApp;
afterEach(() => app.world.close());

const payloads = (count: number) => Array.from({ length: count }, (_, n) => ({ n, workMs: 0 }));

/** So many jobs of this kind, more than one call takes. */
async function enqueue(count: number, options: object): Promise<string[]> {
  const ids: string[] = [];
  for (let left = count; left > 0; left -= 500) {
    const args = { payloads: payloads(Math.min(left, 500)), options };
    ids.push(...((await app.world.call("batches:sumsWith", args)) as string[]));
  }
  return ids;
}

async function startWorker(env: Record<string, string>): Promise<void> {
  const { world, token } = app;
  await world.program(path.join(root, "tests/support/app/worker.ts"), {
    name: "worker",
    env: { CONVEX_URL: world.url, CONVEYOR_TOKEN: token, WORKER_NAME: "worker", ...env },
  });
}

const claims = () => app.world.stats.snapshot().functions["work:claim"]?.calls ?? 0;

const KINDS = [
  ["of other groups", { WORKER_GROUPS: "a" }, { group: "b" }, { group: "a" }],
  ["that are too dear for it", { WORKER_MAX_COST: "5" }, { cost: 7 }, { cost: 4 }],
] as const;

test.each(KINDS.slice(counts(1, 0)))(
  "an idle worker behind more jobs %s than one scan reads makes few empty claims, and begins its own at once",
  async (_, env, others, own) => {
    app = await startVirtualApp({ seed: 1 });
    await enqueue(LOOK_ROWS_MAX + 500, others);
    await startWorker(env);
    await app.world.advance(MINUTE);
    const before = claims();
    expect(before).toBeLessThanOrEqual(16);
    await app.world.advance(10 * MINUTE);
    // It beats once a minute, and claims nothing.
    expect(claims() - before).toBe(0);
    const [mine] = await enqueue(1, own);
    await app.world.advance(2 * SECOND);
    expect(await app.world.call("sums:status", { id: mine })).toMatchObject({
      status: "succeeded",
    });
    // As many again: the place from which it is notified moves on, once.
    await enqueue(LOOK_ROWS_MAX + 500, others);
    const after = claims();
    await app.world.advance(10 * MINUTE);
    expect(claims() - after).toBeLessThanOrEqual(4);
    const [last] = await enqueue(1, own);
    await app.world.advance(2 * SECOND);
    expect(await app.world.call("sums:status", { id: last })).toMatchObject({
      status: "succeeded",
    });
  },
);
