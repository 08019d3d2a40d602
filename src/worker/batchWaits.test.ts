/** Batches that wait for a slot: few do, and the jobs of all others go back. */
import { describe, expect, test } from "vitest";
import { startBatches, startManual } from "./batchFakes.test.js";
import { startLoop } from "./fakes.test.js";

describe("jobs of one answer that fall into many batches", () => {
  /** A second a batch, with jobs that have ten seconds from their claims on. */
  function oneByOne(options: Parameters<typeof startBatches>[1], groups: number) {
    const started = startBatches(
      () => new Promise<void>((resolve) => started.clock.after(1_000, resolve)),
      { leaseMs: 60_000, ...options },
    );
    const { deployment } = started;
    deployment.goesBack = true;
    const ids = Array.from({ length: groups }, (_, n) =>
      deployment.enqueue(null, "tiles", { group: `g${n}`, timeoutMs: 10_000 }),
    );
    const outcomes = () => ids.map((id) => deployment.outcomeOf(id)?.kind);
    return { ...started, outcomes };
  }

  test("wait for their slots in so small a number that none runs out of time; the others go back", async () => {
    const { clock, outcomes, events, deployment } = oneByOne(
      { concurrency: 1, batch: { by: "group", size: 64 } },
      64,
    );
    await clock.advance(400_000);
    expect(outcomes()).toEqual(Array(64).fill("succeeded"));
    expect(events.filter((event) => event.kind === "aborted")).toEqual([]);
    // It asks for less as jobs go back.
    const again = [...deployment.recorded.values()].reduce((sum, { times }) => sum + times - 1, 0);
    expect(again).toBeLessThanOrEqual(140);
  });

  test("it asks for none while a batch waits, and for full batches again once batches are full", async () => {
    const { clock, deployment, outcomes } = oneByOne(
      { concurrency: 2, batch: { by: "group", size: 8 } },
      30,
    );
    await clock.advance(100_000);
    expect(outcomes()).toEqual(Array(30).fill("succeeded"));
    const asked = deployment.requests.length;
    for (let n = 0; n < 400; n += 1) deployment.enqueue(null, "tiles", { group: "one" });
    await clock.advance(100_000);
    expect(Math.max(...deployment.requests.slice(asked).map(({ max }) => max))).toBe(8);
    expect(deployment.pending).toEqual([]);
  });

  test("a slot more, or one less, is noticed at once", async () => {
    const { clock, loop, begun, enqueue, deployment } = startManual({
      ...{ concurrency: 3, leaseMs: 60_000 },
      batch: { by: "group", size: 4, waitMs: 100 },
    });
    const ids = Array.from({ length: 6 }, (_, n) => enqueue(1, { group: `g${n}` })).flat();
    await clock.advance(1_000);
    expect(begun.map((one) => one.ids)).toEqual([[ids[0]], [ids[1]], [ids[2]]]);
    expect(deployment.held.size).toBe(6);
    loop.setConcurrency(2);
    await clock.advance(100);
    expect(deployment.outcomeOf(ids[5]!)).toEqual({ kind: "released" });
    loop.setConcurrency(4);
    await clock.advance(100);
    expect(begun.slice(3).map((one) => one.ids)).toEqual([[ids[3]]]);
    begun[0]!.resolve();
    begun[1]!.resolve();
    await clock.advance(100);
    expect(begun.slice(4).map((one) => one.ids)).toEqual([[ids[4]]]);
    const [late] = enqueue(1, { group: "late" });
    await clock.advance(300);
    expect(begun.slice(5).map((one) => one.ids)).toEqual([[late]]);
  });

  test("of a queue of single jobs beside one of large batches: its jobs do not pile up", async () => {
    const { clock, deployment, events } = startLoop(() => null, {
      leaseMs: 60_000,
      queues: ["tiles", "single"],
      handlers: new Map(
        [64, 1].map((size, i) => [
          ["tiles", "single"][i]!,
          {
            batch: { size, waitMs: 500 },
            handler: () => new Promise<void>((resolve) => clockOf.after(1_000, resolve)),
          },
        ]),
      ),
    });
    const clockOf = clock;
    deployment.goesBack = true;
    for (let n = 0; n < 64; n += 1) deployment.enqueue(null, "single", { timeoutMs: 10_000 });
    await clock.advance(400_000);
    expect(events.filter(({ kind }) => kind === "aborted")).toEqual([]);
    const kinds = [...deployment.recorded.values()].map(({ outcome }) => outcome.kind);
    expect(kinds).toEqual(Array(64).fill("succeeded"));
  });

  test("that go back are not counted among the jobs after which a worker ends", async () => {
    const { clock, end, deployment } = oneByOne(
      { concurrency: 1, batch: { by: "group", size: 8 }, stopAfter: { jobs: 6 } },
      12,
    );
    await clock.advance(100_000);
    expect(end.value).toEqual({});
    const done = [...deployment.recorded.values()].filter((one) => one.outcome.kind !== "released");
    expect(done).toHaveLength(6);
  });
});
