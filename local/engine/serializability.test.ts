/** Serializability, on a few hundred random histories; `histories.long.test.ts` plays thousands. */
import { expect, test } from "vitest";
import { expectSerialHistories } from "./histories.js";

const RUNS = { seed: 4, numRuns: 300 };

test("every history equals the serial run in the order of commit timestamps", async () => {
  const { conflicts, committed } = await expectSerialHistories({ publishLatencyMs: 3 }, RUNS);
  // The property is worth something only where transactions do get in each other's way, and some still commit.
  expect(conflicts).toBeGreaterThan(100);
  expect(committed).toBeGreaterThan(300);
});

test("and the check bites: an engine that does not validate has histories that no serial run gives", async () => {
  await expect(expectSerialHistories({ skipValidation: true }, RUNS)).rejects.toThrow(
    /Property failed/,
  );
});
