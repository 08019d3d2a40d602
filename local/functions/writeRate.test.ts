import { expect, test } from "vitest";
import type { Database, PublishedCommit } from "../engine/types.js";
import type { Environment } from "../environment.js";
import { createVirtualClock } from "../virtual/clock.js";
import { createWriteRate } from "./writeRate.js";

const LIMIT = 4 << 20;

function setUp() {
  const clock = createVirtualClock({ seed: 1 });
  let publish: (bytes: number) => void = () => {};
  const onPublish = (listener: (commit: PublishedCommit) => void) => {
    publish = (bytes) => listener({ bytes } as PublishedCommit);
    return () => {};
  };
  const rate = createWriteRate(clock, { onPublish } as Partial<Database> as Database, LIMIT);
  return { clock, rate, publish: (bytes: number) => publish(bytes) };
}

test("the bytes of one second may come to the limit, and one byte more is refused", () => {
  const { rate, publish } = setUp();
  publish(LIMIT / 2);
  publish(LIMIT / 2);
  expect(() => rate.check()).not.toThrow();
  publish(1);
  expect(() => rate.check()).toThrow(/limited to 4 MiB written per second/);
});

test("each commit leaves the window a second after it, and not with the other commits", async () => {
  const { clock, rate, publish } = setUp();
  publish(LIMIT);
  await clock.advance(600);
  publish(LIMIT);
  await clock.advance(500);
  expect(() => rate.check()).not.toThrow();
  publish(1);
  expect(() => rate.check()).toThrow();
  await clock.advance(501);
  expect(() => rate.check()).not.toThrow();
});

test("a clock that is set back begins a new window: no call is refused until it has caught up", () => {
  let now = 10_000;
  const listeners: ((commit: PublishedCommit) => void)[] = [];
  const onPublish = (listener: (commit: PublishedCommit) => void) => {
    listeners.push(listener);
    return () => {};
  };
  const clock = { now: () => now } as Environment;
  const rate = createWriteRate(clock, { onPublish } as Partial<Database> as Database, LIMIT);
  const publish = (bytes: number) => listeners[0]!({ bytes } as PublishedCommit);
  publish(LIMIT + 1);
  expect(() => rate.check()).toThrow();
  now = 5_000;
  expect(() => rate.check()).not.toThrow();
  publish(LIMIT);
  now = 4_500;
  publish(LIMIT);
  expect(() => rate.check()).not.toThrow();
});
