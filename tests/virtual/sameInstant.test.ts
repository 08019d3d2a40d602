/** Jobs whose callers began in the same instant: the platform gives their rows the same creation time. */
import { expect, test } from "vitest";
import { MemoryStore } from "../../local/store/memoryStore.js";
import { createWorld, type World } from "../../local/virtual/world.js";
import { build, COMPONENT } from "../simulation/deployment.js";

const COUNT = 3;
const LEASE_MS = 2_000;
const QUEUE = { name: "tied", config: { leaseMs: LEASE_MS, maxResets: 3, shards: 1 } };

const call = (world: World, path: string, args: object): Promise<any> =>
  world.call(path, args, { componentPath: COMPONENT });

/** Enqueued at once, claimed together by a worker that falls silent, and given back in one commit: their keys are one. */
async function startTied(): Promise<{ world: World; token: string }> {
  const store = new MemoryStore();
  const { deployment } = await build();
  const world = await createWorld({ seed: 1, jitter: 0, store, deployment });
  const { token } = await call(world, "lib:createToken", { name: "fleet", queues: null });
  // The first declares the queue, for which the others would have to wait.
  const [first] = await call(world, "lib:enqueue", { queue: QUEUE, jobs: [{ payload: -1 }] });
  await call(world, "operate:deleteJob", { id: first.id });
  const address = { namespace: COMPONENT, path: "lib:enqueue" };
  const enqueued = Array.from({ length: COUNT }, (_, n) => {
    const args = { queue: QUEUE, jobs: [{ payload: n }] };
    return world.backend.runner.mutation(address, args, { publicOnly: false } as never);
  });
  await world.run(Promise.all(enqueued));
  const silent = { token, session: "silent", name: "silent", n: 1, queues: [QUEUE], max: COUNT };
  expect((await call(world, "lib:claim", silent)).jobs).toHaveLength(COUNT);
  await world.advance(LEASE_MS + 10_000);
  const rows = store.contents().find(({ table }) => table.name === "jobs")!.docs;
  const keys = rows.map(({ status, seq, _creationTime: at }) => `${status as string} ${seq as bigint} ${at}`);
  expect(new Set(keys).size).toBe(1);
  return { world, token };
}

test("are all claimed, by a worker too that takes them one at a time and goes on from its cursor", async () => {
  const { world, token } = await startTied();
  const claimed = new Set<unknown>();
  let cursor: string | undefined;
  for (let n = 1; n <= COUNT; n += 1) {
    const reply = await call(world, "lib:claim", {
      ...{ token, session: "single", name: "single", n, queues: [QUEUE], max: 1 },
      ...(cursor !== undefined && { cursor }),
    });
    for (const { payload } of reply.jobs) claimed.add(payload);
    cursor = reply.cursor as string;
  }
  expect([...claimed].sort()).toEqual([0, 1, 2]);
  await world.close();
});
