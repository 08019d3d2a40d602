import { afterEach, describe, expect, test, vi } from "vitest";
import { log } from "./log.js";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a line of the log", () => {
  test("is one line of JSON that names its event, with 64-bit numbers as strings", () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    log({ logLevel: "warn" }, "warn", "attemptFailed", { queue: "tiles", seq: 5n, error: "a\nb" });
    expect(warn.mock.calls).toEqual([
      ['{"conveyor":"attemptFailed","queue":"tiles","seq":"5","error":"a\\nb"}'],
    ]);
  });

  test("is written from the queue's level on, and under its own level's name", () => {
    const levels = ["debug", "info", "warn", "error"] as const;
    const spies = levels.map((level) =>
      vi.spyOn(console, level).mockImplementation(() => undefined),
    );
    for (const level of levels) log({ logLevel: "info" }, level, "x", {});
    expect(spies.map((spy) => spy.mock.calls.length)).toEqual([0, 1, 1, 1]);
  });
});
