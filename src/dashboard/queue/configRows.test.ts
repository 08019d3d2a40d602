/** A configuration as a table. */
import { expect, test } from "vitest";
import type { QueueState } from "../../shared/index.js";
import { DEFAULT_LABELS } from "../labels.js";
import { configRows } from "./configRows.js";

const stateOf = (given: Partial<QueueState>): QueueState => {
  const declared = { leaseMs: 30_000, maxResets: 3, shards: 8 };
  const state = { name: "q", declared, declaredAt: 0, overrides: {}, inForce: declared };
  return { ...state, sources: {}, ...given };
};
const row = (state: QueueState, field: string) =>
  configRows(state, DEFAULT_LABELS).find((one) => one.field === field);

test("each value has its source, and the code's value where it is overridden", () => {
  const state = stateOf({
    overrides: { leaseMs: 90_000, timeoutMs: 5_000 },
    sources: { leaseMs: "override", timeoutMs: "override", maxResets: "code", graceMs: "default" },
    inForce: { leaseMs: 90_000, maxResets: 3, shards: 8, timeoutMs: 5_000, graceMs: 5_000 },
  });
  expect(row(state, "leaseMs")).toMatchObject({
    ...{ value: "1 min 30 s", source: "override", declared: "30 s" },
  });
  expect(row(state, "timeoutMs")).toMatchObject({ value: "5.0 s", source: "override" });
  expect(row(state, "timeoutMs")).not.toHaveProperty("declared");
  expect(row(state, "maxResets")).toMatchObject({ value: "3", source: "code" });
  expect(row(state, "graceMs")).toMatchObject({ source: "default" });
});

test("an override equal to the code's value is an override", () => {
  const state = stateOf({ overrides: { shards: 8 }, sources: { shards: "override" } });
  expect(row(state, "shards")).toMatchObject({ source: "override", declared: "8" });
});

test("a value with fields is written in words", () => {
  const retry = { maxAttempts: 5, initialBackoffMs: 1_000, base: 2, maxBackoffMs: 3_600_000 };
  const inForce = { leaseMs: 1, maxResets: 1, shards: 1, push: true };
  const state = (more: object) => stateOf({ inForce: { ...inForce, ...more } });
  expect(row(state({ retry }), "retry")?.value).toBe("5 attempts, backoff 1.0 s × 2ⁿ, at most 1 h");
  expect(row(state({ retry: { ...retry, maxAttempts: 1 } }), "retry")?.value).toBe("none");
  expect(row(state({}), "push")?.value).toBe("yes");
  const day = 86_400_000;
  const retention = { succeededMs: day, failedMs: 7 * day, canceledMs: day, timedOutMs: 7 * day };
  expect(row(state({ retention }), "retention")?.value).toBe(
    "succeeded 1 d, failed 7 d, canceled 1 d, timedOut 7 d",
  );
});

test("a field that this page does not know yet is shown by its own name", () => {
  const inForce = { leaseMs: 1, maxResets: 1, shards: 1, novelty: 7 };
  expect(row(stateOf({ inForce }), "novelty")).toMatchObject({ label: "novelty", value: "7" });
});
