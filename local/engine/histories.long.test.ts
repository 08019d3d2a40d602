/** The engine's serializability on many more random histories than the quick tests play. */
import { expect, test } from "vitest";
import { counts } from "../counts.js";
import { expectSerialHistories } from "./histories.js";

const HISTORIES = counts(1_000, 4_000);

test.each([1, 2])(
  "%#: thousands of random histories are serial, with any latency",
  async (seed) => {
    const runs = { seed, numRuns: HISTORIES };
    const { conflicts, committed } = await expectSerialHistories(
      { publishLatencyMs: seed * 2 },
      runs,
    );
    console.log(`${HISTORIES} histories: ${committed} commits, ${conflicts} conflicts`);
    expect(conflicts).toBeGreaterThan(HISTORIES / 3);
    expect(committed).toBeGreaterThan(HISTORIES);
  },
  300_000,
);
