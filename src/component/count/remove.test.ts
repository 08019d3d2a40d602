/** How much a removal may take in one part; the next part leaves nothing out. */
import { describe, expect, test } from "vitest";
import { REMOVE_BYTES, REMOVE_ROWS } from "../../shared/index.js";
import type { Id } from "../_generated/dataModel.js";
import { bytesOf } from "../rows/rowBytes.js";
import { newRoom, removeJob, removeRows, type Place, type Room } from "./remove.js";
import { newWorld, type World } from "../setup.test.js";

/** Entries of a log of an attempt, and chunks of it. */
async function streamed(
  world: World,
  job: Id<"jobs">,
  attempt: number,
  { logs = 0, chunks = 0, data = "x" }: { logs?: number; chunks?: number; data?: string },
): Promise<void> {
  await world.t.run(async ({ db }) => {
    for (let entry = 0; entry < logs; entry += 1) {
      await db.insert("logs", {
        job,
        attempt,
        entry,
        level: "info",
        message: data,
        at: 0,
        total: entry + 1,
      });
    }
    for (let index = 0; index < chunks; index += 1) {
      await db.insert("chunks", { job, attempt, index, text: data, total: data.length });
    }
  });
}

const part = async (world: World, job: Id<"jobs">, room: Room, from?: Place) =>
  await world.t.run(async ({ db }) => await removeRows(db, job, room, from));

describe("one part of a removal", () => {
  test("ends where its bytes are spent, even after few rows", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await streamed(world, id, 1, { chunks: 40, data: "x".repeat(10_000) });
    const room = { ...newRoom(), bytes: 100_000 };
    expect(await part(world, id, room)).toMatchObject({ table: "chunks" });
    expect(await world.all("chunks")).toHaveLength(30);
    expect(await part(world, id, room)).not.toBeNull();
    expect(await world.all("chunks")).toHaveLength(30);
  });

  test("pays for the job's row, and for values that lie apart: the payload, by its row and its bytes", async () => {
    const world = await newWorld();
    const id = await world.enqueue("x".repeat(5_000));
    const job = await world.job(id);
    const bytes = "bytes" in job.payload ? job.payload.bytes : 0;
    expect(bytes).toBeGreaterThan(5_000);
    const room = newRoom();
    await world.t.run(async (ctx) => await removeJob(ctx as never, job, room));
    const left = REMOVE_BYTES - bytes - bytesOf(job);
    expect(room).toMatchObject({ rows: REMOVE_ROWS - 1, bytes: left });
    expect(await world.all("payloads")).toEqual([]);
  });

  test("pays for the rows by which the job is listed", async () => {
    const world = await newWorld({ listBy: ["tag"] });
    const id = await world.enqueue(1, { tags: ["a", "b"] });
    const job = await world.job(id);
    const room = newRoom();
    await world.t.run(async (ctx) => await removeJob(ctx as never, job, room));
    expect([room.rows, await world.all("marks")]).toEqual([REMOVE_ROWS - 2, []]);
  });
});

test("rows of all tables go, more of each than are read first", async () => {
  const world = await newWorld();
  const id = await world.enqueue();
  await streamed(world, id, 1, { logs: 50, chunks: 20 });
  await streamed(world, id, 2, { logs: 9, chunks: 3 });
  await world.t.run(async ({ db }) => {
    for (let attempt = 1; attempt <= 40; attempt += 1)
      await db.insert("attempts", { job: id, attempt, outcome: "failed", endedAt: 0 });
    const outcome = { status: "failed" as const, error: "boom" };
    const dead = { job: id, handle: "", outcome, state: "dead" as const, tries: 10, dueAt: 0 };
    for (let attempt = 1; attempt <= 5; attempt += 1)
      await db.insert("callbacks", { ...dead, attempt });
    await db.insert("progress", { job: id, attempt: 1, value: 0.5, updatedAt: 0 });
  });
  expect(await part(world, id, newRoom())).toBeNull();
  for (const table of ["attempts", "logs", "chunks", "progress", "callbacks"] as const)
    expect(await world.all(table)).toEqual([]);
});

describe("the next part", () => {
  test("goes on within a log, and takes of the tables behind it all attempts", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    await streamed(world, id, 1, { chunks: 3 });
    await streamed(world, id, 2, { logs: 100, chunks: 3 });
    const place = await part(world, id, { ...newRoom(), rows: 40 });
    expect(place).toMatchObject({ table: "logs", attempt: 2, within: 39 });
    expect(await part(world, id, newRoom(), place!)).toBeNull();
    expect([await world.all("logs"), await world.all("chunks")]).toEqual([[], []]);
  });

  test("of another job begins with its first row", async () => {
    const world = await newWorld();
    const [one, other] = await world.enqueueBatch([1, 2]);
    await streamed(world, other!, 1, { logs: 3, chunks: 3 });
    const place: Place = { job: one!, table: "chunks", attempt: 9, within: 9 };
    expect(await part(world, other!, newRoom(), place)).toBeNull();
    expect([await world.all("logs"), await world.all("chunks")]).toEqual([[], []]);
  });
});
