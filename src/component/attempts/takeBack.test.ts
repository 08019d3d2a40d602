/** Attempts that the app could not hand out end in the transaction that claimed them. */
import { expect, test } from "vitest";
import type { Finished } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import {
  app,
  failed,
  newToldWorld,
  newWorld,
  refusal,
  released,
  type Worker,
  type World,
} from "../setup.test.js";

async function takeBack(world: World, { token, sessionKey }: Worker, finished: Finished[]) {
  return await world.t.mutation(api.lib.takeBack, { token, sessionKey, finished });
}

/** A claim of two jobs of which the app can hand out the second only. */
async function claimAndTakeBack(
  world: World,
  worker: Worker,
  end: typeof failed | typeof released,
) {
  const { token, sessionKey, name, world: of } = worker;
  return await world.t.run(async (ctx) => {
    const request = { token, sessionKey, callSeq: 1, name, queues: [of.queue], max: 2 };
    const { jobs } = await ctx.runMutation(api.lib.claim, request);
    const finished = [end(jobs[0]!)];
    const { answers } = await ctx.runMutation(api.lib.takeBack, { token, sessionKey, finished });
    return { jobs, answers };
  });
}

test("an attempt that was claimed in the same transaction ends as the app says; the remaining ones stay leased", async () => {
  const world = await newWorld();
  const [first, second] = await world.enqueueBatch([1, 2]);
  const worker = world.worker("a");
  const { answers } = await claimAndTakeBack(world, worker, failed);
  expect(answers).toEqual([{ id: first, attempt: 1, answer: "ok" }]);
  expect(await world.status(first!)).toMatchObject({ status: "failed", error: "boom" });
  expect(await world.status(second!)).toMatchObject({ status: "running" });
  const { callSeq: n, state, leases } = await worker.session();
  expect({ n, state }, "it counts no call").toEqual({ n: 1, state: "active" });
  expect(leases.map(({ id }) => id)).toEqual([second]);
});

test("a job that was given back is claimed by other workers, and no lease of it is left", async () => {
  const world = await newWorld();
  const [id] = await world.enqueueBatch([1, 2]);
  await claimAndTakeBack(world, world.worker("a"), released);
  const jobs = await world.worker("b").claim(2);
  expect(jobs.map((job) => job.id)).toEqual([id]);
});

test("the app's callback is delivered alone: one that conflicts or throws takes no claim down", async () => {
  const world = await newToldWorld();
  let told = 0;
  app.onComplete = () => void (told += 1);
  await world.enqueueBatch([1, 2]);
  await claimAndTakeBack(world, world.worker("a"), failed);
  expect(told).toBe(0);
  expect(await world.all("callbacks")).toHaveLength(1);
  await world.settle();
  expect(told).toBe(1);
  expect(await world.all("callbacks")).toEqual([]);
});

test("a session that has claimed nothing has nothing to take back, and gets no row", async () => {
  const world = await newWorld();
  await world.enqueue();
  const [job] = await world.worker("a").claim();
  const { answers } = await takeBack(world, world.worker("b"), [failed(job!)]);
  expect(answers).toEqual([{ id: job!.id, attempt: 1, answer: "leaseLost" }]);
  expect(await world.status(job!.id)).toMatchObject({ status: "running" });
  expect(await world.all("sessions")).toHaveLength(1);
});

test("a call that names no attempt, and one with an unknown token, are refused", async () => {
  const world = await newWorld();
  await world.enqueue();
  const worker = world.worker("a");
  const [job] = await worker.claim();
  expect(await refusal(takeBack(world, worker, []))).toMatchObject({ code: "invalidArgument" });
  const unknown = { token: "nonsense", sessionKey: worker.sessionKey, finished: [failed(job!)] };
  await refusal(world.t.mutation(api.lib.takeBack, unknown));
  expect(await world.status(job!.id)).toMatchObject({ status: "running" });
});
