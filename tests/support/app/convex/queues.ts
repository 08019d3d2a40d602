/** The queues of the test app. A short lease, so that losing one is quick. */
import { Conveyor } from "convex-conveyor";
import { v } from "convex/values";
import { components, internal } from "./_generated/api.js";

export const conveyor = new Conveyor(components.conveyor);

export const LEASE_MS = 2_000;

export const sums = conveyor.queue("sums", {
  payload: v.object({ n: v.number(), workMs: v.number() }),
  result: v.object({ square: v.number() }),
  leaseMs: LEASE_MS,
  maxResets: 3,
  onComplete: () => internal.done.record,
});

/** The same work under a lease that no slow machine loses: for races and benchmarks. */
export const races = conveyor.queue("races", {
  payload: v.object({ n: v.number() }),
  result: v.object({ square: v.number() }),
  leaseMs: 600_000,
});

/** Its `onComplete` writes the one row that all the app writes: the worst that a callback can do to its outcome. */
export const hot = conveyor.queue("hot", {
  payload: v.object({ n: v.number() }),
  result: v.object({ square: v.number() }),
  leaseMs: 600_000,
  onComplete: () => internal.hot.tell,
});

/** Not served by `work.ts`: a worker has no business with it. */
export const secrets = conveyor.queue("secrets", { payload: v.any() });
