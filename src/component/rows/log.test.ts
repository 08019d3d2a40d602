import { afterEach, describe, expect, test, vi } from "vitest";
import { log, logAlways } from "./log.js";

afterEach(() => {
  vi.restoreAllMocks();
});

const about = { queue: "tiles", job: "j", name: "resize" };

describe("a line of the log", () => {
  // Shows SG-42, WP-32.
  test("is one line of JSON that names its event, with 64-bit numbers as strings", () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const details = { seq: 5n, error: "a\nb" };
    logAlways("warn", "leasesEnded", { queue: undefined, message: "Two.", details });
    expect(warn.mock.calls).toEqual([
      [
        '{"conveyor":"leasesEnded","level":"warn","message":"Two.","details":{"seq":"5","error":"a\\nb"}}',
      ],
    ]);
  });

  test("is written from the queue's level on, and under its own level's name", () => {
    const levels = ["debug", "info", "warn", "error"] as const;
    const spies = levels.map((level) =>
      vi.spyOn(console, level).mockImplementation(() => undefined),
    );
    for (const level of levels) log({ logLevel: "info" }, level, "jobPromoted", about);
    expect(spies.map((spy) => spy.mock.calls.length)).toEqual([0, 1, 1, 1]);
    const said = spies[3]!.mock.lastCall as [string];
    expect(JSON.parse(said[0])).toEqual({ conveyor: "jobPromoted", level: "error", ...about });
  });
});
