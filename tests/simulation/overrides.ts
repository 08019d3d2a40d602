/** How queues are configured, at first and while they run. */
import type { QueueOverrides } from "../../src/shared/index.js";
import type { Draw } from "./draw.js";
import { CIRCULAR, isOf, kindOf, PUSHED, type QueueName } from "./plan.js";

/** Also the overrides that replace a queue's configuration while it runs. */
export function drawOverrides(draw: Draw, name: QueueName): QueueOverrides {
  const overrides: QueueOverrides = {
    leaseMs: draw.pick([2_000, 3_000, 8_000]),
    maxResets: draw.pick([0, 1, 3]),
    shards: draw.pick([1, 1, 1, 2, 4]),
    retry: {
      maxAttempts: draw.pick([1, 2, 3]),
      initialBackoffMs: draw.pick([0, 200, 1_000]),
      base: 2,
      maxBackoffMs: 3_000,
    },
  };
  if (draw.chance(0.3)) overrides.graceMs = draw.pick([0, 500, 2_000]);
  if (draw.chance(0.3)) overrides.timeoutMs = draw.pick([1_000, 3_000, 10_000]);
  if (draw.chance(0.2)) overrides.expiresAfterMs = draw.pick([1_000, 5_000, 60_000]);
  if (isOf(PUSHED, name)) overrides.maxParallelism = draw.pick([1, 2, 5, 20]);
  if (kindOf(name) === "mixed") overrides.fallbackAfterMs = draw.pick([0, 500, 3_000]);
  if (isOf(CIRCULAR, name)) overrides.restMs = draw.pick([0, 500, 500, 1_500, 1_500, 4_000]);
  if (draw.chance(0.3)) {
    const ms = draw.pick([0, 1_000, 20_000]);
    overrides.retention = { succeededMs: ms, failedMs: ms, canceledMs: ms, timedOutMs: ms };
  }
  return overrides;
}
