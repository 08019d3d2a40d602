import { expect, test } from "vitest";
import { MAX_KEPT_MUTATION_CHARS } from "../limits.js";
import { MutationLedger, type MutationOutcome } from "./mutationLedger.js";

const done: MutationOutcome = { ok: true, value: 1, logs: [], ts: 5n };
const failed: MutationOutcome = { ok: false, message: "no", logs: [], ts: 5n };

test("a mutation that is sent again while it runs, or after, is run once", async () => {
  const ledger = new MutationLedger();
  let runs = 0;
  const run = async (): Promise<MutationOutcome> => {
    runs++;
    return done;
  };
  const both = await Promise.all([ledger.once("s", 1, run), ledger.once("s", 1, run)]);
  expect(both).toEqual([done, done]);
  expect(await ledger.once("s", 1, run)).toBe(done);
  expect(runs).toBe(1);
});

test("another session's mutation of the same number is another mutation", async () => {
  const ledger = new MutationLedger();
  let runs = 0;
  const run = async (): Promise<MutationOutcome> => {
    runs++;
    return done;
  };
  await ledger.once("s", 1, run);
  await ledger.once("t", 1, run);
  expect(runs).toBe(2);
});

test("what failed has changed nothing, and is tried again when it is sent again", async () => {
  const ledger = new MutationLedger();
  expect(await ledger.once("s", 1, async () => failed)).toBe(failed);
  await expect(ledger.once("s", 1, () => Promise.reject(new Error("busy")))).rejects.toThrow();
  expect(await ledger.once("s", 1, async () => done)).toBe(done);
});

test("large results push the oldest out: the record does not grow with what clients are told", async () => {
  const ledger = new MutationLedger();
  const large: MutationOutcome = { ...done, value: "x".repeat(MAX_KEPT_MUTATION_CHARS / 4) };
  const ran: number[] = [];
  const once = (requestId: number) =>
    ledger.once("s", requestId, async () => {
      ran.push(requestId);
      return large;
    });
  // Four and what surrounds them are one too many, so three are kept.
  for (const requestId of [0, 1, 2, 3]) await once(requestId);
  for (const requestId of [3, 2, 1, 0]) await once(requestId);
  expect(ran).toEqual([0, 1, 2, 3, 0]);
});

test("a result that is larger than all that may be kept is kept while it is the last", async () => {
  const ledger = new MutationLedger();
  const huge: MutationOutcome = { ...done, value: "x".repeat(MAX_KEPT_MUTATION_CHARS + 1) };
  await ledger.once("s", 1, async () => huge);
  expect(await ledger.once("s", 1, async () => done)).toBe(huge);
  await ledger.once("s", 2, async () => done);
  expect(await ledger.once("s", 1, async () => done)).toBe(done);
});
