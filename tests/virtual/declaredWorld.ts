/** For tests: any queue by its declaration, as if an app with that code had been deployed; its rows; workers outside. */
import type { World } from "../../local/virtual/world.js";
import { startVirtualApp } from "../support/virtualApp.js";
import { declaring } from "../support/declaring.js";
import { MemoryStore } from "../../local/store/memoryStore.js";
import type { QueueConfig, QueueDeclaration } from "../../src/shared/index.js";

export const COMPONENT = { componentPath: "conveyor" };

/** Calls the component itself; a queue that it finds undeclared is declared first. */
export async function callDeclaring(world: World, path: string, args: object): Promise<unknown> {
  const declare = (queues: object) => world.call("lib:declare", queues, COMPONENT);
  return await declaring(args, declare, () => world.call(path, args, COMPONENT));
}

export interface JobRow {
  _id: string;
  status: string;
  attempt: number;
  worker?: string;
  labels?: string[];
  error?: string;
}

export class Place {
  private constructor(
    readonly world: World,
    private readonly store: MemoryStore,
    readonly token: string,
  ) {}
  private calls = 0;
  private written = 0;

  static async open(): Promise<Place> {
    const store = new MemoryStore();
    const { world, token } = await startVirtualApp({ seed: 4, store });
    return new Place(world, store, token);
  }

  rows<Row>(table: string): Row[] {
    const kept = this.store
      .contents()
      .find(({ table: { namespace, name } }) => namespace === "conveyor" && name === table);
    return (kept?.docs ?? []) as Row[];
  }

  /** The queue as the app declares it, once it has. */
  async declared(queue: "acted" | "written" | "inlined"): Promise<QueueConfig> {
    const payloads = [{ n: 0, ms: 0 }];
    const { path, args } = {
      acted: { path: "traced:enqueue", args: { payloads } },
      written: { path: "traced:enqueueWritten", args: { payloads } },
      inlined: { path: "odd:enqueue", args: { queue, payloads: ["returns"] } },
    }[queue];
    await this.world.call(path, args);
    const rows = this.rows<{ name: string; config: QueueConfig }>("queues");
    return rows.find(({ name }) => name === queue)!.config;
  }

  async enqueue(
    queue: QueueDeclaration,
    jobs: { ms?: number; payload?: unknown; options?: object }[],
  ) {
    const all = jobs.map(({ ms = 0, options = {}, payload }) => ({
      payload: payload ?? { n: (this.written += 1), ms },
      options,
    }));
    const enqueued = await callDeclaring(this.world, "lib:enqueue", { queue, jobs: all });
    return (enqueued as { id: string }[]).map(({ id }) => id);
  }

  async claim(queue: QueueDeclaration, max: number, conditions: object = {}): Promise<string[]> {
    const n = (this.calls += 1);
    const session = { token: this.token, sessionKey: "outside", name: "outside", callSeq: n };
    const args = { ...session, queues: [queue], max, ...conditions };
    const { jobs } = (await callDeclaring(this.world, "lib:claim", args)) as {
      jobs: { id: string }[];
    };
    return jobs.map(({ id }) => id);
  }

  /** A worker outside claims up to `max` jobs, and completes them at once. */
  async work(queue: QueueDeclaration, max: number): Promise<void> {
    const ids = new Set(await this.claim(queue, max));
    const finished = this.rows<JobRow>("jobs")
      .filter(({ _id }) => ids.has(_id))
      .map(({ _id: id, attempt }) => ({ id, attempt, outcome: { kind: "succeeded", result: 1 } }));
    if (finished.length === 0) return;
    const n = (this.calls += 1);
    const call = { token: this.token, sessionKey: "outside", callSeq: n, finished };
    await this.world.call("lib:complete", call, COMPONENT);
  }

  jobs(ids: readonly string[]): JobRow[] {
    const all = this.rows<JobRow>("jobs");
    return ids.map((id) => all.find(({ _id }) => _id === id)!);
  }
}
