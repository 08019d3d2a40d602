/** The cost of upkeep on the engine: counts, in virtual time. Its correctness is tested beside its modules. */
import { expect, test } from "vitest";
import { squared } from "../support/session.js";
import { startVirtualApp } from "../support/virtualApp.js";

const JOBS = 256;
const HOUR_MS = 60 * 60_000;

// Shows WP-15.
// Rules out P20.
test("a purge never walks over deleted rows again, and an idle queue costs no call once it is empty", async () => {
  const { world, token } = await startVirtualApp({ seed: 1, jitter: 0 });
  try {
    const session = { token, sessionKey: "one" };
    await world.call("races:enqueue", {
      queue: "races",
      payloads: Array.from({ length: JOBS }, (_, n) => ({ n })),
    });
    let n = 0;
    for (let done = 0; done < JOBS;) {
      const claim = { queues: ["races"], max: 64, name: "one" };
      const { jobs } = await world.call("work:claim", { ...session, callSeq: ++n, ...claim });
      const finished = jobs.map(({ id, attempt }: { id: string; attempt: number }) => ({
        ...{ id, attempt, outcome: squared(1) },
      }));
      if (jobs.length > 0)
        await world.call("work:complete", { ...session, callSeq: ++n, finished });
      done += jobs.length;
    }
    await world.advance(23 * HOUR_MS);
    world.stats.reset();
    await world.advance(4 * HOUR_MS);
    const { functions } = world.stats.snapshot();
    expect(Object.keys(functions)).toEqual(["conveyor/count/purge:purgeQueue"]);
    const { calls, tombstones, io, conflicts } = functions["conveyor/count/purge:purgeQueue"]!;
    expect({ calls, conflicts }).toEqual({ calls: 3, conflicts: 0 });
    // Except over the last of each run: another job of the same instant may have its key.
    expect(tombstones).toBe(calls - 1);
    // Each job, and with every call its queue, its alarm and the counts.
    expect(io.documentsRead).toBeLessThan(3 * JOBS);
    world.stats.reset();
    await world.advance(24 * HOUR_MS);
    expect(Object.keys(world.stats.snapshot().functions)).toEqual([]);
  } finally {
    await world.close();
  }
});
