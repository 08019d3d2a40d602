/** All queues together take half of the class's slots of the scheduler, each has its turn, and the app its own functions. */
import { expect, test } from "vitest";
import { startVirtualApp } from "../support/virtualApp.js";
import { callDeclaring } from "./declaredWorld.js";
import { PROCESSES_BY_CLASS } from "../../src/shared/index.js";
import type { StoredCommit } from "../../local/engine/store.js";
import { MemoryStore } from "../../local/store/memoryStore.js";

const QUEUES = 7;
const JOBS = 25;
const JOB_MS = 3_000;
/** A queue that waits for a slot or for places has had one by then. */
const SERVED_MS = 30_000;
const OWN_WITHIN_MS = 1_500;

type Row = Record<string, unknown> & { _id: string };

class ProcessCounter extends MemoryStore {
  private readonly taken = new Set<string>();
  most = 0;

  override append(commits: readonly StoredCommit[]): Promise<void> {
    for (const { id, doc, table } of commits.flatMap(({ writes }) => writes)) {
      if (table !== "processes") continue;
      if (doc === null || (doc as Row)["state"] === "free") this.taken.delete(id);
      else this.taken.add(id);
      this.most = Math.max(this.most, this.taken.size);
    }
    return super.append(commits);
  }

  docs(namespace: string, name: string): Row[] {
    const kept = this.contents().find(
      ({ table }) => table.namespace === namespace && table.name === name,
    );
    return kept?.docs ?? [];
  }
}

// Rules out D4.
test("seven busy queues on the smallest class leave the app its scheduled functions, and each is served", async () => {
  const store = new ProcessCounter();
  const { world } = await startVirtualApp({ seed: 1, class: "s16", store });
  try {
    await world.call("pushed:enqueue", { queue: "pushed", payloads: [{ n: 0, ms: 0 }] });
    const [{ config }] = store.docs("conveyor", "queues") as [Row & { config: object }];
    const jobs = Array.from({ length: JOBS }, (_, n) => ({ payload: { n, ms: JOB_MS } }));
    for (let i = 0; i < QUEUES; i += 1) {
      const queue = { name: `busy${i}`, config: { ...config, maxParallelism: 3 } };
      await callDeclaring(world, "lib:enqueue", { queue, jobs });
    }
    const asked: number[] = [];
    for (let n = 0; n < SERVED_MS / 1_000; n += 1) {
      asked.push(world.now());
      await world.call("pushed:noteLater", { n });
      await world.advance(1_000);
    }
    const served = new Set(
      store
        .docs("conveyor", "jobs")
        .filter(({ attempt }) => attempt !== 0)
        .map(({ queue }) => queue),
    );
    expect(served.size).toBe(QUEUES + 1);
    // The last slot is for the successor of a process that is too old to be handed more lanes.
    expect(store.most).toBe(PROCESSES_BY_CLASS["s16"]! - 1);
    const waits = store.docs("", "notes").map(({ n, at }) => Number(at) - asked[Number(n)]!);
    expect(waits.length).toBe(asked.length);
    expect(Math.max(...waits)).toBeLessThan(OWN_WITHIN_MS);
    await world.advance(300_000);
    const open = store.docs("conveyor", "jobs").filter(({ status }) => status !== "succeeded");
    expect(open).toEqual([]);
    const taken = store.docs("conveyor", "processes").filter(({ state }) => state !== "free");
    expect(taken).toEqual([]);
  } finally {
    await world.close();
  }
}, 240_000);
