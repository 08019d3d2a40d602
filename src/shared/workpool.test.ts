import { describe, expect, test } from "vitest";
import { STATUSES } from "./status.js";
import { conveyorLogLevel, vWorkLogLevel, workResult, workStatus } from "./workpool.js";

describe("a job, as work", () => {
  test("is pending while it waits or backs off, running while it runs, and finished however it ended", () => {
    const states = STATUSES.map((status) => workStatus({ status, failures: 0, resets: 0 }).state);
    expect(Object.fromEntries(STATUSES.map((status, at) => [status, states[at]]))).toEqual({
      ...{ scheduled: "pending", pending: "pending", running: "running" },
      ...{ succeeded: "finished", failed: "finished", canceled: "finished", timedOut: "finished" },
    });
    expect(workStatus(null)).toEqual({ state: "finished" });
  });

  test("has had the failed attempts and the attempts with a lost lane, not the released ones", () => {
    const job = { status: "pending" as const, failures: 2, resets: 1, releases: 5 };
    expect(workStatus(job)).toEqual({ state: "pending", previousAttempts: 3 });
  });

  test("has failed where its time was over or its lane was lost", () => {
    expect(workResult({ status: "timedOut", error: "late" })).toEqual({
      ...{ kind: "failed", error: "late" },
    });
    expect(workResult({ status: "canceled", error: "why" })).toEqual({ kind: "canceled" });
    expect(workResult({ status: "succeeded", result: null })).toEqual({
      ...{ kind: "success", returnValue: null },
    });
  });
});

test("every level of the old package's log comes to one here", () => {
  const levels = vWorkLogLevel.members.map(({ value }) => conveyorLogLevel(value));
  expect(levels).toEqual(["debug", "debug", "info", "warn", "warn", "error"]);
});
