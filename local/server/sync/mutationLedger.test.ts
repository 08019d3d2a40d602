import { expect, test } from "vitest";
import { MutationLedger, type MutationOutcome } from "./mutationLedger.js";

const done: MutationOutcome = { ok: true, value: 1, logs: [], ts: 5n };
const first = { sessionId: "s", requestId: 1 };

/** Runs that end on demand. */
function runs() {
  const ends: ((outcome: MutationOutcome) => void)[] = [];
  const run = () => new Promise<MutationOutcome>((resolve) => ends.push(resolve));
  return { ends, run };
}

test("a mutation that is sent again while it runs is run once, and both are answered", async () => {
  const ledger = new MutationLedger();
  const { ends, run } = runs();
  const both = Promise.all([ledger.once(first, run), ledger.once(first, run)]);
  expect(ends).toHaveLength(1);
  ends[0]!(done);
  expect(await both).toEqual([done, done]);
});

test("requests of other numbers and other sessions run by themselves", () => {
  const ledger = new MutationLedger();
  const { ends, run } = runs();
  for (const other of [first, { ...first, requestId: 2 }, { ...first, sessionId: "t" }]) {
    void ledger.once(other, run);
  }
  expect(ends).toHaveLength(3);
});

test("one that ended, well or not, is asked for again: its row says whether it was done", async () => {
  const ledger = new MutationLedger();
  await ledger.once(first, async () => done);
  const failing = ledger.once(first, () => Promise.reject(new Error("refused")));
  await expect(failing).rejects.toThrow("refused");
  expect(await ledger.once(first, async () => ({ ...done, value: 2 }))).toMatchObject({ value: 2 });
});
