import { expect, test } from "vitest";
import type { PublishedCommit } from "../../engine/types.js";
import { createVirtualClock } from "../../virtual/clock.js";
import { MAX_WOKEN_AT_ONCE, WAKE_SPLAY_MS } from "../limits.js";
import { CommitFeed } from "./commitFeed.js";

/** Readers, each with one query that every commit outdates; when each was woken, in ms since the commit. */
function setUp(count: number) {
  const clock = createVirtualClock({ seed: 1 });
  let publish: (commit: PublishedCommit) => void = () => {};
  const onPublish = (listener: (commit: PublishedCommit) => void) => {
    publish = listener;
    return () => {};
  };
  const feed = new CommitFeed({ onPublish }, clock);
  const since = clock.now();
  const woken: number[] = [];
  const leave = Array.from({ length: count }, () =>
    feed.subscribe({ follow: () => 1, wake: () => void woken.push(clock.now() - since) }),
  );
  publish({ ts: 1n, touches: () => true } as unknown as PublishedCommit);
  return { clock, woken, leave };
}

test("as many as the platform wakes at once are woken with the commit", () => {
  const { woken } = setUp(MAX_WOKEN_AT_ONCE);
  expect(woken).toEqual(Array.from({ length: MAX_WOKEN_AT_ONCE }, () => 0));
});

test("of one more, all are woken at random over five milliseconds for each", async () => {
  const count = MAX_WOKEN_AT_ONCE + 1;
  const longest = count * WAKE_SPLAY_MS;
  const { clock, woken } = setUp(count);
  expect(woken).toEqual([]);
  await clock.advance(longest / 2);
  expect(woken.length).toBeGreaterThan(count / 3);
  expect(woken.length).toBeLessThan((count * 2) / 3);
  await clock.advance(longest / 2);
  expect(woken).toHaveLength(count);
  expect(new Set(woken).size).toBeGreaterThan(count / 2);
});

test("a session that has left meanwhile is not woken", async () => {
  const { clock, woken, leave } = setUp(MAX_WOKEN_AT_ONCE + 1);
  for (const stop of leave) stop();
  await clock.untilIdle();
  expect(woken).toEqual([]);
});
