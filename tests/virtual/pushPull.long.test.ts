/** A queue that workers outside and Convex itself serve together costs no wakes where a worker takes its jobs in time. */
import { expect, test } from "vitest";
import { api } from "../support/app/convex/_generated/api.js";
import { startVirtualApp } from "../support/virtualApp.js";

/** As long as jobs of the queue `mixed` are left to workers. */
const LEFT_MS = 2_000;

test.each([1, 2])(
  "100 jobs that come in 15 s and are taken by a worker in time cost no wake, and no conflict (seed %i)",
  { timeout: 200_000 },
  async (seed) => {
    const { world, session } = await startVirtualApp({ seed, class: "s16" });
    const [here, client] = [session("here", "mixed"), world.httpClient("app")];
    await world.run(here.claim(1));
    world.stats.reset();
    const calls = Array.from({ length: 100 }, async (_, n) => {
      await world.clock.sleep(n * 150);
      const payloads = [{ n, ms: 0 }];
      await client.mutation(api.pushed.enqueueMixed, { payloads }, { skipQueue: true });
    });
    const work = async () => {
      for (let done = 0; done < 100;) {
        await world.clock.sleep(150);
        const { jobs } = await here.claim(4);
        const outcome = { kind: "succeeded" as const, result: { square: 1 } };
        const finished = jobs.map(({ id, attempt }) => ({ id, attempt, outcome }));
        if (jobs.length > 0) await here.complete(finished);
        done += jobs.length;
      }
    };
    await world.run(Promise.all([...calls, work()]));
    await world.advance(10 * LEFT_MS);
    const { functions, conflicts } = world.stats.snapshot();
    expect(functions["conveyor/push/wake:wake"]?.calls ?? 0).toBe(0);
    expect(conflicts).toEqual([]);
    await world.close();
  },
);
