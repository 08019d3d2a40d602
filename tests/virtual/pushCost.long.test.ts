/** The promised cost of a job in a push queue, as counts in virtual time: never as times. */
import { expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import type { AlternativeName } from "../../bench/alternatives.js";
import type { Load } from "../../bench/cases.js";
import { count } from "../../bench/figures/count.js";
import { play } from "../../bench/play.js";

interface Costing {
  kind: "act" | "book";
  ms: number;
  parallelism: number;
  load: Load;
  reads?: number;
}

async function cost({ kind, ms, ...rest }: Costing, of: AlternativeName = "conveyor") {
  const one = { name: "", of: [of], class: "s16", work: { kind, ms }, ...rest } as const;
  const { calls, callsBehind, documentsWritten, documentsWrittenBehind, ...figures } = count(
    of,
    one,
    await play(of, one),
  );
  return {
    ...figures,
    /** Without upkeep. */
    calls: calls - callsBehind,
    documents: documentsWritten - documentsWrittenBehind,
  };
}

/** So many reads of the caller's own take about 60 and 300 ms. */
const READS = { of60Ms: 12, of300Ms: 60 };

test("an isolated job costs a wake, a lane, its handler and a completion", async () => {
  const load = { everyMs: 60_000, jobs: 2 };
  const { calls, callerErrors } = await cost({ kind: "act", ms: 20, parallelism: 10, load });
  expect(calls).toBeLessThanOrEqual(4);
  expect(callerErrors).toBe(0);
});

// Shows H1.
test("in a backlog a job costs at most two calls, four documents and 1.25 KB beside its payload, and never more run than may", async () => {
  const parallelism = 50;
  const load = { inOne: 400 };
  const counted = await cost({ kind: "act", ms: 100, parallelism, load });
  expect(counted.calls).toBeLessThanOrEqual(2);
  expect(counted.documents).toBeLessThanOrEqual(4);
  // Documents with the entries of their indexes, each of which names its document: 33 bytes.
  expect(counted.bareBytesWritten - counted.bytesWrittenBehind).toBeLessThanOrEqual(1_250);
  expect(counted.atOnce).toBeLessThanOrEqual(parallelism);
});

test("jobs that run inside their lane share calls: less than one for each", async () => {
  const load = { inOne: 100 };
  const work = { kind: "act", ms: 100, parallelism: 20 } as const;
  const { calls, documents } = await cost({ ...work, load }, "inline");
  expect(calls).toBeLessThanOrEqual(0.9);
  expect(documents).toBeLessThanOrEqual(4);
});

test("mutations in a backlog share calls: less than one for each", async () => {
  const load = { inOne: 60 };
  const { calls, documents } = await cost({ kind: "book", ms: 0, parallelism: 20, load });
  expect(calls).toBeLessThanOrEqual(0.9);
  expect(documents).toBeLessThanOrEqual(4);
});

const callers = { kind: "act", ms: 20, parallelism: 50 } as const;

test("of many callers at once none gets an error, and at most one in 100 retries", async () => {
  const counted = await cost({ ...callers, load: { atOnce: 100 }, reads: READS.of60Ms });
  expect(counted.callerErrors).toBe(0);
  expect(counted.callerConflicts).toBeLessThanOrEqual(1);
});

const STREAMS = [
  ["callers that take 300 ms: at most five in 100 run", READS.of300Ms, 5],
  ["short callers: at most one in 100 runs", READS.of60Ms, 1],
] as const;

test.skipIf(counts(true, false)).each(STREAMS)(
  "in a stream of %s again, and none gets an error",
  async (_, reads, most) => {
    const counted = await cost({ ...callers, load: { perSecond: 25, seconds: 4 }, reads });
    expect(counted.callerErrors).toBe(0);
    expect(counted.callerConflicts).toBeLessThanOrEqual(most);
  },
);
