/** Words that renew leases: beats, and calls of `complete` that carry one. */
import { expect, test } from "vitest";
import { api } from "./_generated/api.js";
import { leaseOf, newWorld, succeeded } from "./setup.test.js";

test("complete is a beat too: it answers for the leases that it names besides", async () => {
  const world = await newWorld();
  await world.enqueueBatch([1, 2, 3]);
  const worker = world.worker("a");
  const [one, two, three] = await worker.claim(3);
  await world.cancel(three!.id);
  const { token, session } = worker;
  const held = [two!, three!, { id: one!.id, attempt: 9 }].map(leaseOf);
  const args = { token, session, n: 2, finished: [succeeded(one!)], held };
  await world.advance(5_000);
  const reply = await world.t.mutation(api.lib.complete, args);
  expect(reply.held!.map(({ answer }) => answer)).toEqual(["ok", "canceled", "leaseLost"]);
  await world.advance(5_000);
  const again = await world.t.mutation(api.lib.complete, args);
  expect(again, "repeated, it beats again").toEqual(reply);
  await world.advance(9_000);
  expect(await world.status(two!.id)).toMatchObject({ status: "running" });
});

test("a beat, and a completion that claims nothing, do not depend on the janitor's timer", async () => {
  const world = await newWorld();
  await world.enqueueBatch([1, 2]);
  const worker = world.worker("a");
  const [one, two] = await worker.claim(2);
  const timers = await world.all("timers");
  await world.t.run(async (ctx) => {
    // A write of the same transaction is in no snapshot query, and in every real read, which would now find none.
    for (const timer of await ctx.db.query("timers").collect())
      await ctx.db.delete("timers", timer._id);
    const { token, session } = worker;
    const leases = [one!, two!].map(leaseOf);
    await ctx.runMutation(api.lib.heartbeat, { token, session, leases });
    await ctx.runMutation(api.lib.complete, { token, session, n: 2, finished: [succeeded(one!)] });
    const added = (await ctx.db.query("timers").collect()).filter(({ kind }) => kind === "janitor");
    expect(added).toEqual([]);
    for (const { _id, _creationTime, ...timer } of timers) await ctx.db.insert("timers", timer);
  });
});
