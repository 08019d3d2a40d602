/** Replace: cancel, and only if that won, enqueue. */
import { describe, expect, test } from "vitest";
import type { JobOptions } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { newToldWorld, newWorld, refusal, succeeded, T0, type World } from "../setup.test.js";

async function replace(world: World, id: string, payload = "newer", options: JobOptions = {}) {
  const job = { payload, options };
  return await world.t.mutation(api.lib.replace, { id, queue: world.queue, job });
}

describe("a job that has not begun", () => {
  // Shows DE-15, A17, B6.
  test.each<[string, JobOptions]>([
    ["waits", {}],
    ["is due later", { runAfter: 60_000 }],
  ])(
    "that %s goes, and the new one is there; onComplete receives the first one's end",
    async (_, options) => {
      const world = await newToldWorld();
      const id = await world.enqueue("old", options);
      const reply = await replace(world, id);
      expect(reply).toMatchObject({ replaced: true, status: "canceled" });
      expect(await world.status(id)).toMatchObject({ status: "canceled" });
      expect(await world.all("told")).toMatchObject([{ id, status: "canceled" }]);
      const jobs = await world.worker("a").claim(5);
      expect(jobs).toMatchObject([{ id: reply.id, payload: "newer" }]);
    },
  );

  test("gives its key to the new one", async () => {
    const world = await newWorld();
    const options = { key: { value: "k", onConflict: "refuse" as const } };
    const id = await world.enqueue("old", options);
    const reply = await replace(world, id, "newer", options);
    expect(await world.all("keys")).toMatchObject([{ job: reply.id }]);
  });

  test.each(["existing", "refuse", "replace"] as const)(
    "gives its key to the new one also before the key's window is over, with %s",
    async (onConflict) => {
      const world = await newWorld();
      const options = { key: { value: "k", windowMs: 60_000, onConflict } };
      const id = await world.enqueue("old", options);
      await world.advance(10_000);
      const reply = await replace(world, id, "newer", options);
      expect(reply).toMatchObject({ replaced: true, id: expect.not.stringMatching(id) });
      expect(await world.all("keys")).toMatchObject([{ job: reply.id, until: T0 + 70_000 }]);
      expect(await world.worker("a").claim(5)).toMatchObject([{ payload: "newer" }]);
    },
  );

  test.each([
    ["existing", "pending"],
    ["refuse", "pending"],
    ["replace", "running"],
  ] as const)(
    "stays if a third has the key of the new one, with %s beside one that is %s",
    async (onConflict, status) => {
      const world = await newWorld();
      const options = { key: { value: "k", onConflict } };
      const third = await world.enqueue("third", options);
      if (status === "running") await world.worker("a").claim();
      const id = await world.enqueue("old");
      const refused = await refusal(replace(world, id, "newer", options));
      expect(refused).toMatchObject({ code: "duplicateKey", key: "k", id: third });
      expect(await world.status(id)).toMatchObject({ status: "pending" });
      expect(await world.status(third)).toMatchObject({ status });
      expect(await world.all("jobs")).toHaveLength(2);
    },
  );

  test("goes with a third that has the key, where that is to be replaced too", async () => {
    const world = await newWorld();
    const options = { key: { value: "k", onConflict: "replace" as const } };
    const third = await world.enqueue("third", options);
    const reply = await replace(world, await world.enqueue("old"), "newer", options);
    expect(reply).toMatchObject({ replaced: true });
    expect(await world.status(third)).toMatchObject({ status: "canceled" });
    expect(await world.worker("a").claim(5)).toMatchObject([{ id: reply.id, payload: "newer" }]);
  });

  test("stays if the new one is refused: never is neither of them there", async () => {
    const world = await newWorld();
    const id = await world.enqueue("old");
    const refused = await refusal(replace(world, id, "newer", { priority: 99 }));
    expect(refused).toMatchObject({ code: "invalidArgument" });
    expect(await world.status(id)).toMatchObject({ status: "pending" });
  });
});

describe("a job that cannot be replaced stays, and nothing is enqueued", () => {
  // Shows DE-15.
  test("one that runs", async () => {
    const world = await newWorld();
    const id = await world.enqueue("old");
    const worker = world.worker("a");
    const [job] = await worker.claim();
    expect(await replace(world, id)).toEqual({ replaced: false, id, status: "running" });
    expect(await world.all("jobs")).toHaveLength(1);
    expect(await world.all("cancels")).toEqual([]);
    await worker.complete([succeeded(job!)]);
    expect(await replace(world, id)).toEqual({ replaced: false, id, status: "succeeded" });
    expect(await world.all("jobs")).toHaveLength(1);
  });

  test("one of another queue, which is answered like an unknown id", async () => {
    const world = await newWorld();
    const id = await world.enqueue("old");
    world.queue.name = "others";
    expect(await refusal(replace(world, id))).toMatchObject({ code: "unknownJob" });
    expect(await refusal(replace(world, "nonsense"))).toMatchObject({ code: "unknownJob" });
  });
});

describe("a replaced job is counted and purged, also where no job is ever leased", () => {
  const counted = async (world: World) => {
    await world.advance(11_000);
    return (await world.minutes()).map(({ canceled }) => canceled);
  };

  // Rules out D31b.
  test("by its id", async () => {
    const world = await newWorld();
    await replace(world, await world.enqueue("old"));
    expect(await counted(world)).toEqual([1]);
  });

  // Rules out D31b.
  test("by its key", async () => {
    const world = await newWorld();
    const options = { key: { value: "k", onConflict: "replace" as const } };
    await world.enqueue("old", options);
    await world.enqueue("newer", options);
    expect(await counted(world)).toEqual([1]);
  });
});
