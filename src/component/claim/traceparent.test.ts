/** The trace that a job takes along: on its row, in each claim, and into the jobs that follow it. */
import { describe, expect, test } from "vitest";
import { leaseOf, newToldWorld } from "../setup.test.js";

const traceparent = `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01`;
const other = `00-${"12".repeat(16)}-${"34".repeat(8)}-00`;

describe("a job's traceparent", () => {
  test("is on its row and in every claim, with the time since when the job waits", async () => {
    const world = await newToldWorld();
    const id = await world.enqueue("x", {
      traceparent,
      rules: {
        retry: {
          maxAttempts: 2,
          initialBackoffMs: 5_000,
          base: 1,
          maxBackoffMs: 5_000,
          jitter: "none",
        },
      },
    });
    const worker = world.worker("a");
    const enqueuedAt = Date.now();
    const [first] = await worker.claim();
    expect(first).toMatchObject({ id, traceparent });
    expect(Math.abs(first!.claimableAt! - enqueuedAt)).toBeLessThan(1_000);
    await worker.complete([{ ...leaseOf(first!), outcome: { kind: "failed", error: "x" } }]);
    await world.advance(6_000);
    const [second] = await worker.claim();
    expect(second).toMatchObject({ id, traceparent, attempt: 2 });
    expect(second!.claimableAt! - first!.claimableAt!).toBeGreaterThanOrEqual(5_000);
    expect(second!.claimableAt!).toBeLessThanOrEqual(Date.now() + 1);
  });

  test("that no enqueue names is no field: not of the row, nor of the claim", async () => {
    const world = await newToldWorld();
    await world.enqueue("x");
    const [row] = await world.all("jobs");
    expect(row).not.toHaveProperty("traceparent");
    const [job] = await world.worker("a").claim();
    expect(job).not.toHaveProperty("traceparent");
    expect(job).not.toHaveProperty("claimableAt");
  });

  // Shows K11.
  test("is inherited by jobs that follow, in any language, unless they name their own", async () => {
    const world = await newToldWorld();
    await world.enqueue("x", { traceparent });
    const worker = world.worker("a");
    const [job] = await worker.claim();
    const jobs = [{ payload: 1 }, { payload: 2, options: { traceparent: other, priority: 1 } }];
    const continued = [{ queue: world.queue, jobs }];
    await worker.complete([{ ...leaseOf(job!), outcome: { kind: "succeeded" }, continued }]);
    const following = await worker.claim(2);
    expect(following.map((one) => [one.payload, one.traceparent])).toEqual([
      [2, other],
      [1, traceparent],
    ]);
  });

  test.each([
    "",
    "00",
    `01-${"ab".repeat(16)}-${"cd".repeat(8)}-01`,
    `00-${"AB".repeat(16)}-${"cd".repeat(8)}-01`,
    `00-${"0".repeat(32)}-${"cd".repeat(8)}-01`,
    `00-${"ab".repeat(16)}-${"0".repeat(16)}-01`,
    `00-${"ab".repeat(16)}-${"cd".repeat(8)}-1`,
    `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01-more`,
    ` ${traceparent}`,
    `${traceparent}\n`,
    "x".repeat(100_000),
  ])("is refused where it is malformed, and nothing is written: %j", async (malformed) => {
    const world = await newToldWorld();
    const refused = expect(world.enqueue("x", { traceparent: malformed }));
    await refused.rejects.toThrow(/A traceparent must be of the form.*leave it out/s);
    expect(await world.all("jobs")).toEqual([]);
  });
});
