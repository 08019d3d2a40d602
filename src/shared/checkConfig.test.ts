import { describe, expect, test } from "vitest";
import { checkQueueConfig, checkQueueOverrides } from "./checkConfig.js";
import { isConveyorError } from "./errors.js";
import { RETENTION_DEFAULT, RETRY_DEFAULT } from "./limits.js";
import type { QueueConfig } from "./protocol.js";

const plain: QueueConfig = { leaseMs: 60_000, maxResets: 3, shards: 8 };

function argumentOf(check: () => void): unknown {
  try {
    check();
    return "accepted";
  } catch (error) {
    if (!isConveyorError(error, "invalidArgument")) throw error;
    return error.data["argument"];
  }
}

test("a configuration with everything at its bounds is accepted", () => {
  const config: QueueConfig = {
    ...{ leaseMs: 1_000, graceMs: 0, maxResets: 0, shards: 64, timeoutMs: 604_800_000 },
    ...{ expiresAfterMs: 1_000, circular: true, restMs: 0 },
    retention: { ...RETENTION_DEFAULT, succeededMs: 0 },
    retry: { maxAttempts: 1, initialBackoffMs: 0, base: 1, maxBackoffMs: 0, jitter: "none" },
  };
  expect(argumentOf(() => checkQueueConfig("q", config))).toBe("accepted");
});

describe("a value out of bounds is refused by its name, declared or overridden", () => {
  test.each<[string, Partial<QueueConfig>]>([
    ["leaseMs", { leaseMs: 999 }],
    ["graceMs", { graceMs: -1 }],
    ["graceMs", { graceMs: 3_600_001 }],
    ["maxResets", { maxResets: 101 }],
    ["shards", { shards: 0 }],
    ["timeoutMs", { timeoutMs: 999 }],
    ["timeoutMs", { timeoutMs: 604_800_001 }],
    ["expiresAfterMs", { expiresAfterMs: 0 }],
    ["restMs", { restMs: 0.5, circular: true }],
    ["retention.failedMs", { retention: { ...RETENTION_DEFAULT, failedMs: -1 } }],
    ["maxAttempts of retry", { retry: { ...RETRY_DEFAULT, maxAttempts: 1_001 } }],
    ["initialBackoffMs of retry", { retry: { ...RETRY_DEFAULT, initialBackoffMs: NaN } }],
    ["base of retry", { retry: { ...RETRY_DEFAULT, base: 11 } }],
    ["jitter of retry", { retry: { ...RETRY_DEFAULT, jitter: "half" as never } }],
  ])("%s: %o", (what, wrong) => {
    const named = `${what} of the queue "q"`;
    expect(argumentOf(() => checkQueueConfig("q", { ...plain, ...wrong }))).toBe(named);
    const { circular: _, ...override } = wrong;
    expect(argumentOf(() => checkQueueOverrides("q", override))).toBe(named);
  });

  test("a rest without a ring would do nothing", () => {
    const config = { ...plain, restMs: 1_000 };
    expect(argumentOf(() => checkQueueConfig("q", config))).toBe("restMs");
  });
});
