import { describe, expect, test } from "vitest";
import { LOG_RETENTION_MS, MAX_LOG_ENTRIES } from "./limits.js";
import { CATALOG, IntervalReadSet } from "./readSet.js";
import { CommitRecord, WriteLog } from "./writeLog.js";

const RETENTION_NS = BigInt(LOG_RETENTION_MS) * 1_000_000n;

function logOf(timestamps: bigint[]): WriteLog {
  const log = new WriteLog();
  for (const ts of timestamps) {
    const record = new CommitRecord(ts, `commit ${ts}`);
    record.addCatalogChange("t");
    log.add(record);
  }
  return log;
}

const everything = new IntervalReadSet();
everything.addCatalog();

describe("the write log", () => {
  test("finds the first commit after the transaction began, and none that it has seen", () => {
    const log = logOf([10n, 20n, 30n]);
    expect(log.conflict(everything, 9n)?.ts).toBe(10n);
    expect(log.conflict(everything, 10n)?.ts).toBe(20n);
    expect(log.conflict(everything, 30n)).toBeNull();
    expect(log.conflict(new IntervalReadSet(), 0n)).toBeNull();
  });

  test("forgets commits by age, and refuses validation that would have needed them", () => {
    const log = logOf([10n, 20n, 30n]);
    log.trim(RETENTION_NS + 20n, 30n);
    expect(() => log.conflict(everything, 9n)).toThrow(/^OutOfRetention/);
    expect(log.conflict(everything, 10n)?.ts).toBe(20n);
  });

  test("forgets commits by number", () => {
    const surplus = 5;
    const log = logOf(Array.from({ length: MAX_LOG_ENTRIES + surplus }, (_, i) => BigInt(i + 1)));
    log.trim(0n, BigInt(MAX_LOG_ENTRIES));
    expect(() => log.conflict(everything, BigInt(surplus) - 1n)).toThrow(/^OutOfRetention/);
    expect(log.conflict(everything, BigInt(surplus))?.ts).toBe(BigInt(surplus) + 1n);
  });

  test("never forgets unpublished commits, however old", () => {
    const log = logOf([10n, 20n]);
    log.trim(10n * RETENTION_NS, 10n);
    expect(log.conflict(everything, 10n)?.ts).toBe(20n);
  });
});

test("a read set of the catalog is free, and as real as any other", () => {
  expect(everything.intervals).toBe(0);
  expect([...everything.indexes()]).toEqual([CATALOG]);
});
