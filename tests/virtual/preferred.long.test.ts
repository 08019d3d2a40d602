/**
 * Jobs that prefer certain workers for a time: on the paths by which Convex itself takes jobs, and with idle workers.
 */
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import type { QueueConfig, QueueDeclaration } from "../../src/shared/index.js";
import { root } from "../support/paths.js";
import { Place, type JobRow } from "./declaredWorld.js";

const FOR_MS = 5_000;
const GPU = { options: { prefer: { labels: ["gpu"], forMs: FOR_MS } } };
/** A preference ends to a second; the alarm, the wake and the start follow. */
const SOON_MS = 2_000;

interface Row extends JobRow {
  enqueuedAt: number;
  startedAt?: number;
}

let place: Place;
afterEach(() => place.world.close());

const waited = (ids: string[]) =>
  (place.jobs(ids) as Row[]).map(({ enqueuedAt, startedAt = Infinity }) => startedAt - enqueuedAt);

const wakes = (): number =>
  place.world.stats.snapshot().functions["conveyor/push/wake:wake"]?.calls ?? 0;

describe.each(["acted", "written", "inlined"] as const)("inside Convex, in %s", (name) => {
  test.each(counts([name === "acted" ? 0 : 2_000], [0, 2_000]))(
    "a job is left to workers for its time, and plain jobs beside it are not (fallbackAfterMs: %i)",
    async (fallbackAfterMs) => {
      place = await Place.open();
      const config: QueueConfig = { ...(await place.declared(name)), fallbackAfterMs };
      const queue: QueueDeclaration = { name, config };
      // A queue is declared anew every ten seconds at most.
      await place.world.advance(12_000);
      await place.enqueue(queue, [{}]);
      await place.world.advance(12_000);
      place.world.stats.reset();
      const alone = await place.enqueue(queue, [GPU]);
      await place.world.advance(1_000);
      expect(wakes()).toBe(0);
      const preferring = [GPU, {}, GPU, GPU, {}, GPU, ...Array.from({ length: 20 }, () => GPU)];
      const ids = await place.enqueue(queue, preferring);
      await place.world.advance(2_500);
      const statuses = place.jobs(ids).map(({ status }) => status);
      expect(statuses).toEqual(preferring.map((one) => (one === GPU ? "pending" : "succeeded")));
      expect(place.jobs(alone)).toMatchObject([{ status: "pending", attempt: 0 }]);
      await place.world.advance(10_000);
      const left = [...alone, ...ids.filter((_, i) => preferring[i] === GPU)];
      expect(new Set(place.jobs(left).map(({ status }) => status))).toEqual(new Set(["succeeded"]));
      expect(Math.min(...waited(left))).toBeGreaterThanOrEqual(FOR_MS);
      expect(Math.max(...waited(left))).toBeLessThan(FOR_MS + SOON_MS);
    },
  );
});

describe("with idle workers", () => {
  const WORKER = path.join(root, "tests/support/app/worker.ts");
  let queue: QueueDeclaration;

  async function open(workers: number): Promise<void> {
    place = await Place.open();
    const { world, token } = place;
    for (let i = 0; i < workers; i += 1) {
      const name = `worker ${i}`;
      const env = { CONVEX_URL: world.url, CONVEYOR_TOKEN: token, WORKER_NAME: name };
      await world.program(WORKER, { name, env });
    }
    await world.advance(20_000);
    const rows = place.rows<{ name: string; config: QueueConfig }>("queues");
    queue = rows.find((one) => one.name === "sums")!;
    queue = { name: queue.name, config: queue.config };
  }

  const sum = (prefer: object) => ({ payload: { n: 1, workMs: 10 }, options: { prefer } });
  const claims = (): number =>
    place.world.stats.snapshot().functions["conveyor/lib:claim"]?.calls ?? 0;

  test("one that fits takes it at once, of a small fleet by its name", async () => {
    await open(6);
    const [id] = await place.enqueue(queue, [sum({ worker: "worker 4", forMs: 60_000 })]);
    await place.world.advance(2_000);
    expect(place.jobs([id!])).toMatchObject([{ status: "succeeded", worker: "worker 4" }]);
    expect(waited([id!])[0]).toBeLessThan(500);
  });

  test("where none fits one of them takes it when the time is over; until then none claims in vain", async () => {
    await open(6);
    place.world.stats.reset();
    const nobody = { worker: "nobody", forMs: FOR_MS };
    const ids = await place.enqueue(queue, [sum(nobody), sum({ labels: ["x"], forMs: FOR_MS })]);
    await place.world.advance(FOR_MS - 100);
    expect(claims()).toBe(0);
    await place.world.advance(SOON_MS);
    expect(Math.min(...waited(ids))).toBeGreaterThanOrEqual(FOR_MS);
    expect(Math.max(...waited(ids))).toBeLessThan(FOR_MS + SOON_MS);
  });

  test("jobs for any worker are begun at once beside many that none of them fits", async () => {
    await open(2);
    const nobody = { worker: "nobody", forMs: 30_000 };
    await place.enqueue(
      queue,
      Array.from({ length: 600 }, () => sum(nobody)),
    );
    await place.world.advance(10_000);
    const plain = { payload: { n: 2, workMs: 10 } };
    const ids: string[] = [];
    for (let i = 0; i < 10; i += 1) {
      ids.push(...(await place.enqueue(queue, [plain])));
      await place.world.advance(1_000);
    }
    expect(Math.max(...waited(ids))).toBeLessThan(SOON_MS);
  });
});
