/** How a queue goes, as pages see it through the app's own functions, and an administration by the queue's name. */
import { expect, test } from "vitest";
import { conveyor, pages, refusal, setup, tiles } from "./setup.test.js";

test("each is of its own queue, and by its name says the same as the queue itself", async () => {
  const t = setup();
  await t.mutation(...pages.enqueue("tiles", { x: 1 }));
  await t.mutation(...pages.enqueue("loose", {}));
  await t.mutation(...pages.enqueue("loose", {}));
  await t.run(async (given) => {
    const ctx = given as never;
    for (const [name, waiting] of [
      ["tiles", 1],
      ["loose", 2],
      ["nobodys", 0],
    ] as const) {
      const queue = conveyor.observe(name);
      expect((await queue.gauge(ctx)).counts.pending).toEqual({ count: waiting, more: false });
      expect(await queue.health(ctx)).toMatchObject({ of: 0, successRate: 1, averageMs: 5_000 });
      const { per, periods } = await queue.stats(ctx, { per: "day", count: 2 });
      expect([per, periods.length]).toEqual(["day", 2]);
    }
    const { at: _, ...own } = await tiles.gauge(ctx);
    expect(await conveyor.observe("tiles").gauge(ctx)).toMatchObject({ counts: own.counts });
  });
});

test("a value out of bounds is refused with the rule, the value and the code", async () => {
  const t = setup();
  await t.run(async (given) => {
    const ctx = given as never;
    const refused = async (call: Promise<unknown>) =>
      (await refusal(call, "invalidArgument")).message;
    expect(await refused(tiles.stats(ctx, { count: 0 }))).toBe(
      "count must be a whole number from 1 to 1000; got 0.",
    );
    expect(await refused(tiles.health(ctx, { last: 101 }))).toBe(
      "last must be a whole number from 1 to 100; got 101.",
    );
    expect(await refused(conveyor.observe("no name").gauge(ctx))).toBe(
      'The name of a queue must be 1 to 64 letters, digits, "_" or "-"; got "no name".',
    );
  });
});
