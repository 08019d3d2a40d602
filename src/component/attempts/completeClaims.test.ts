/** A call that ends jobs and claims others: which rights it needs, and the session's row beside the app's callbacks. */
import { expect, test } from "vitest";
import { api } from "../_generated/api.js";
import type { MutationCtx } from "../_generated/server.js";
import {
  app,
  newToldWorld,
  newWorld,
  refusal,
  succeeded,
  Worker,
  type World,
} from "../setup.test.js";

/** A worker with one of two jobs of its queue. */
async function running(world: World, worker = world.worker("a")) {
  await world.enqueueBatch([1, 2]);
  const [job] = await worker.claim();
  return { worker, job: job! };
}

test("a token for one queue may end its job, and claims of no other by the same call: nothing is recorded", async () => {
  const world = await newWorld();
  const secret = { name: "tiles only", queues: ["tiles"] };
  const { token } = await world.t.mutation(api.operate.createToken, secret);
  const { worker, job } = await running(world, new Worker(world, "a", "session-a", token));
  world.queue.name = "others";
  await world.enqueue("theirs");
  const call = worker.complete([succeeded(job)], { claim: 1 });
  expect((await refusal(call)).message).toContain('"others"');
  expect(await world.status(job.id)).toMatchObject({ status: "running" });
});

test("a session counts the outcomes that were recorded, and no late ones", async () => {
  const world = await newWorld();
  const { worker, job } = await running(world);
  await worker.complete([succeeded(job), { ...succeeded(job), attempt: 7 }]);
  expect(await worker.session()).toMatchObject({ done: 1 });
  await worker.complete([succeeded(job)], { claim: 1 });
  expect(await worker.session()).toMatchObject({ done: 1 });
});

test.each([
  ["that a callback quiets", false, 0],
  ["whose callbacks are put off", true, 1],
])(
  "a worker %s claims as its row then says, and keeps only leases that are left",
  async (_what, deferCallbacks, claimed) => {
    const world = await newToldWorld();
    const { worker, job } = await running(world);
    const { _id: id } = await worker.session();
    app.onComplete = async ({ runMutation }: MutationCtx) =>
      void (await runMutation(api.operate.quietWorker, { id }));
    const { jobs } = await worker.complete([succeeded(job)], { claim: 1, deferCallbacks });
    expect(jobs).toHaveLength(claimed);
    const { leases } = await worker.session();
    expect(leases.map((lease) => lease.id)).toEqual(jobs.map((one) => one.id));
    await world.settle();
    expect(await worker.session()).toMatchObject({ isQuiet: true });
  },
);

test("a worker whose token a callback revokes claims nothing by the same call: it could report on no job any more", async () => {
  const world = await newToldWorld({ maxResets: 0 });
  const { id, token } = await world.t.mutation(api.operate.createToken, {
    name: "x",
    queues: null,
  });
  const { worker, job } = await running(world, new Worker(world, "a", "session-a", token));
  app.onComplete = async ({ runMutation }: MutationCtx) =>
    void (await runMutation(api.operate.revokeToken, { id }));
  const { words, jobs } = await worker.complete([succeeded(job)], { claim: 1 });
  expect({ words, jobs }).toEqual({ words: ["ok"], jobs: [] });
  expect(await worker.session()).toMatchObject({ leases: [] });
  expect(await world.worker("b").claim(9)).toHaveLength(1);
});
