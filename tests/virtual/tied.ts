/** Rows of calls that began in the same instant: the platform gives them the same creation time. */
import { MemoryStore } from "../../local/store/memoryStore.js";
import { createWorld, type World } from "../../local/virtual/world.js";
import { build, COMPONENT } from "../simulation/deployment.js";

export interface Tied {
  world: World;
  /** A worker's. */
  token: string;
  call: (path: string, args: object) => Promise<any>;
  /** All of them begin now. */
  callAtOnce: (path: string, all: readonly object[]) => Promise<unknown[]>;
  rows: (table: string) => Record<string, any>[];
}

const { deployment } = await build();

export async function startTied(queue: { name: string; config: object }): Promise<Tied> {
  const store = new MemoryStore();
  const world = await createWorld({ seed: 1, jitter: 0, store, deployment });
  const call = (path: string, args: object): Promise<any> =>
    world.call(path, args, { componentPath: COMPONENT });
  const callAtOnce = (path: string, all: readonly object[]) => {
    const address = { namespace: COMPONENT, path };
    const { runner } = world.backend;
    const begun = all.map((args) =>
      runner.mutation(address, args as never, { publicOnly: false } as never),
    );
    return world.run(Promise.all(begun));
  };
  const { token } = await call("operate:createToken", { name: "fleet", queues: null });
  await call("lib:declare", { queues: [queue] });
  const rows = (name: string) =>
    store.contents().find(({ table }) => table.name === name)?.docs ?? [];
  return { world, token, call, callAtOnce, rows };
}

/** So many jobs, each of a caller of its own. */
export async function enqueueAtOnce({ callAtOnce }: Tied, queue: object, count: number) {
  const jobs = Array.from({ length: count }, (_, payload) => ({ payload }));
  await callAtOnce(
    "lib:enqueue",
    jobs.map((job) => ({ queue, jobs: [job] })),
  );
}

/** How many keys the rows have: rows with one key differ only by their ids. */
export function keysOf(rows: readonly Record<string, any>[]): number {
  const keys = rows.map(({ status, order, shard, seq, _creationTime: at }) =>
    [status, order, shard, seq, at].join(" "),
  );
  return new Set(keys).size;
}
