/**
 * Sessions that are gone without a word: for a minute and a half they count as live, and own their part of a queue. Beside
 * them one worker, which is idle and connected, begins each job as soon as it would without them, within half a second. In
 * virtual time, on the deployment class with the least room.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { api } from "../support/app/convex/_generated/api.js";
import { startVirtualApp, type VirtualApp } from "../support/virtualApp.js";
import { Session } from "../support/session.js";
import { jobCalls } from "../../src/shared/index.js";

/** The longest extra wait of a job because of sessions that are gone. */
const LATER_MS = 500;
const SINGLES = 16;
const BURSTS = 3;
const BURST = 24;
/** Ghosts that call at once: more find no permit on this class. */
const AT_ONCE = 16;

interface Played {
  singles: number[];
  /** Of each burst, how long each of its jobs waited. */
  bursts: number[];
}

async function play(ghosts: number, seed: number): Promise<Played> {
  const app = await startVirtualApp({ seed });
  try {
    const worker = await app.worker("here", 8);
    await app.world.advance(3_000);
    await haunt(app, ghosts);
    const singles: number[] = [];
    for (let i = 0; i < SINGLES; i++) singles.push(...(await waits(app, worker.lines, 1)));
    const bursts: number[] = [];
    for (let i = 0; i < BURSTS; i++) bursts.push(...(await waits(app, worker.lines, BURST)));
    return { singles, bursts };
  } finally {
    await app.world.close();
  }
}

/** So many sessions call once, and never again. */
async function haunt({ world, token }: VirtualApp, ghosts: number): Promise<void> {
  for (let n = 0; n < ghosts; n += AT_ONCE) {
    const names = Array.from({ length: Math.min(AT_ONCE, ghosts - n) }, (_, i) => `ghost-${n + i}`);
    const calls = names.map((name) =>
      new Session(world.httpClient(name), token, name, "sums", name).claim(1),
    );
    await world.run(Promise.all(calls));
  }
  await world.advance(1_000);
}

let next = 0;

/** Enqueues so many at once, and says how long each waited from the answer until it began. */
async function waits({ world }: VirtualApp, lines: string[], count: number): Promise<number[]> {
  const from = next;
  next += count;
  const payloads = Array.from({ length: count }, (_, i) => ({ n: from + i, workMs: 50 }));
  const seen = lines.length;
  await world.run(world.httpClient().mutation(...jobCalls(api.sums).enqueueMany("sums", payloads)));
  const enqueuedAt = world.now();
  const began = new Map<number, number>();
  for (let at = seen; began.size < count;) {
    await world.advance(10);
    for (; at < lines.length; at++) {
      const { started, n } = JSON.parse(lines[at]!) as { started?: string; n: number };
      if (started !== undefined) began.set(n, world.now() - enqueuedAt);
    }
    if (world.now() - enqueuedAt > 60_000) throw new Error("A job has not begun within a minute.");
  }
  await world.advance(700);
  return [...began.values()];
}

function figures(waited: readonly number[]): { median: number; max: number } {
  const sorted = [...waited].sort((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)]!, max: sorted.at(-1)! };
}

describe("one idle worker beside sessions that are gone", () => {
  let alone: { singles: ReturnType<typeof figures>; bursts: ReturnType<typeof figures> };
  beforeAll(async () => {
    const { singles, bursts } = await play(0, 1);
    alone = { singles: figures(singles), bursts: figures(bursts) };
  });

  test.each(counts([200], [1, 16, 48, 200, 1_000]))(
    "begins each job within half a second of when it would without %i of them, and soon as if they were not there",
    async (ghosts) => {
      const played = await play(ghosts, 1);
      const [singles, bursts] = [figures(played.singles), figures(played.bursts)];
      expect(singles.max).toBeLessThanOrEqual(alone.singles.max + LATER_MS);
      expect(bursts.max).toBeLessThanOrEqual(alone.bursts.max + LATER_MS);
      expect(singles.median).toBeLessThanOrEqual(alone.singles.median + 50);
    },
  );
});
