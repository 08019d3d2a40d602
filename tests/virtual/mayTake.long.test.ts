/**
 * Labels on every path that takes a job: a wake, a lane's step, a lane that is handed over, a take-over, an inline process. A job
 * with labels is for a worker that offers them, and no lane does.
 */
import { afterEach, describe, expect, test } from "vitest";
import type { QueueConfig, QueueDeclaration } from "../../src/shared/index.js";
import { COMPONENT, Place } from "./declaredWorld.js";

const GPU = { labels: ["gpu"] };

let place: Place;
afterEach(() => place.world.close());

const untouched = { status: "pending", attempt: 0 };

describe.each(["acted", "written", "inlined"] as const)("a job with labels, in %s", (name) => {
  const asking = { options: GPU };
  async function open(given: Partial<QueueConfig> = {}): Promise<QueueDeclaration> {
    place = await Place.open();
    const config = await place.declared(name);
    return given.leaseMs === undefined
      ? { name, config }
      : { name: `${name}ToBeLost`, config: { ...config, ...given } };
  }

  test("alone: the wake leaves it", async () => {
    const queue = await open();
    const ids = await place.enqueue(queue, [asking]);
    await place.world.advance(3_000);
    expect(place.jobs(ids)).toMatchObject([untouched]);
  });

  test("named to a wake by hand: it is left, and nothing calls for ever", async () => {
    const queue = await open();
    const [id] = await place.enqueue(queue, [asking]);
    for (const isAlone of [true, false])
      await place.world.call("push/wake:wake", { queue: name, job: id!, isAlone }, COMPONENT);
    await place.world.advance(15_000);
    place.world.stats.reset();
    await place.world.advance(15_000);
    expect(place.jobs([id!])).toMatchObject([untouched]);
    const called = Object.keys(place.world.stats.snapshot().functions);
    expect(called.filter((path) => /wake|laneStep/.test(path))).toEqual([]);
  });

  test("between plain jobs: the plain jobs run", async () => {
    const queue = await open();
    const ids = await place.enqueue(queue, [asking, {}, asking, {}, {}, asking]);
    await place.world.advance(5_000);
    const done = place.jobs(ids).map(({ status }) => status);
    expect(done).toEqual([
      ...["pending", "succeeded", "pending"],
      ...["succeeded", "succeeded", "pending"],
    ]);
  });

  test("while lanes run and scan, and where it comes back", async () => {
    const queue = await open();
    const plain = await place.enqueue(queue, [
      ...Array.from({ length: 30 }, () => ({ ms: 300 })),
      ...Array.from({ length: 6 }, () => asking),
    ]);
    await place.world.advance(400);
    const given = await place.claim(queue, 64, GPU);
    const later = await place.enqueue(queue, [
      { options: { ...GPU, runAfter: 300 } },
      { options: { ...GPU, priority: 10 } },
    ]);
    await place.world.advance(200);
    const finished = given.map((id) => ({ id, attempt: 1, outcome: { kind: "released" } }));
    const call = { token: place.token, sessionKey: "outside", callSeq: 2, finished };
    await place.world.call("lib:complete", call, COMPONENT);
    await place.world.advance(10_000);
    expect(place.jobs(plain.slice(0, 30)).every(({ status }) => status === "succeeded")).toBe(true);
    const asked = place.jobs([...plain.slice(30), ...later]);
    expect(asked.map(({ status }) => status)).toEqual(asked.map(() => "pending"));
    expect(asked.filter(({ attempt }) => attempt === 1).length).toBeGreaterThan(0);
  });

  test("taken over from a worker that is lost: it waits for another that has them", async () => {
    const queue = await open({ leaseMs: 2_000, maxResets: 3 });
    const [asked] = await place.enqueue(queue, [asking]);
    await place.world.advance(2_000);
    expect(await place.claim(queue, 1, GPU)).toEqual([asked]);
    for (let i = 0; i < 6; i += 1) {
      const load = Array.from({ length: 12 }, () => ({ ms: 400 }));
      await place.enqueue(queue, load);
      await place.world.advance(1_000);
    }
    expect(place.jobs([asked!])).toMatchObject([{ status: "pending", attempt: 1 }]);
    expect(await place.claim(queue, 1, GPU)).toEqual([asked]);
  });
});

test("a lane that is handed over takes no job with labels along", async () => {
  place = await Place.open();
  const config = await place.declared("acted");
  const queues = Array.from({ length: 24 }, (_, n) => ({ name: `acted${n}`, config }));
  const plain: string[] = [];
  const asked: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    for (const queue of queues) {
      const [first, second] = await place.enqueue(queue, [{ options: GPU }, { ms: 1_000 }]);
      asked.push(first!);
      plain.push(second!);
    }
    await place.world.advance(1_000);
  }
  expect(place.rows("processes").length).toBeGreaterThan(1);
  await place.world.advance(20_000);
  expect(new Set(place.jobs(asked).map(({ attempt }) => attempt))).toEqual(new Set([0]));
  expect(new Set(place.jobs(plain).map(({ status }) => status))).toEqual(new Set(["succeeded"]));
});
