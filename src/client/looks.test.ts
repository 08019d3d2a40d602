/** What pages see of a queue's jobs through the app's own functions: each asks `authorize` first, and knows its own queue only. */
import type { usePaginatedQuery } from "convex/react";
import { ConvexError } from "convex/values";
import { expect, test } from "vitest";
import { api, conveyor, setup, tiles } from "./setup.test.js";

const paginationOpts = { numItems: 2, cursor: null };

test("a list is turned page by page through the app's own function", async () => {
  const t = setup();
  for (const x of [1, 2, 3]) await t.mutation(api.app.enqueue, { payload: { x } });
  await t.mutation(api.app.looseEnqueue, { payload: {} });
  const first = await t.query(api.app.list, { filter: { status: "pending" }, paginationOpts });
  expect(first.page).toMatchObject([{ queue: "tiles" }, { queue: "tiles" }]);
  expect(first.isDone).toBe(false);
  const second = await t.query(api.app.list, {
    filter: { status: "pending" },
    paginationOpts: { numItems: 2, cursor: first.continueCursor },
  });
  expect(second).toMatchObject({ page: [{ queue: "tiles" }], isDone: true });
});

test("a queue is listed by its name, in an administration of all queues", async () => {
  const t = setup();
  await t.mutation(api.app.looseEnqueue, { payload: {} });
  const page = await t.run(
    async (ctx) => await conveyor.observe("loose").list(ctx as never, { paginationOpts }),
  );
  expect(page.page).toMatchObject([{ queue: "loose", status: "pending" }]);
});

test("every queue is seen at a glance, a page of them at a time", async () => {
  const t = setup();
  await t.mutation(api.app.enqueue, { payload: { x: 1 } });
  await t.mutation(api.app.looseEnqueue, { payload: {} });
  const ask = async (options: object) =>
    await t.run(async (ctx) => await conveyor.queues(ctx as never, options));
  const first = await ask({ limit: 1 });
  expect(first).toMatchObject({
    queues: [{ state: { name: "loose" }, isPush: false }],
    more: true,
  });
  const second = await ask({ after: "loose" });
  expect(second).toMatchObject({ queues: [{ state: { name: "tiles" } }], more: false });
  const [tilesNow] = second.queues;
  expect(tilesNow!.state.sources).toMatchObject({ leaseMs: "code", graceMs: "default" });
  expect(tilesNow!.gauge.counts.pending).toEqual({ count: 1, more: false });
  expect(tilesNow!.recent).toHaveLength(30);
  await expect(ask({ limit: 101 })).rejects.toThrow("limit");
});

const LOOKS = [
  ["list", { filter: { status: "failed" }, paginationOpts }, { filter: { status: "failed" } }],
  ["byKey", { key: "k" }, { key: "k" }],
  ["position", { id: "j" }, { id: "j" }],
  ["why", { id: "j" }, { id: "j" }],
] as const;

test.each(LOOKS)(
  "%s asks `authorize` with what is asked for, and reads nothing if that throws",
  async (kind, args, about) => {
    const asked: unknown[] = [];
    const functions = tiles.api({
      authorize: async (_ctx, call) => {
        asked.push(call);
        throw new ConvexError("Not you.");
      },
    });
    const handler = (functions[kind] as any)._handler as (ctx: any, args: any) => Promise<unknown>;
    await expect(handler({ runQuery: () => expect.fail("was read") }, args)).rejects.toThrow("Not");
    expect(asked).toEqual([{ kind, ...about }]);
  },
);

test("a list's function is one that `usePaginatedQuery` takes, with the queue's filter", () => {
  type Args = Parameters<typeof usePaginatedQuery<typeof api.app.list>>[1];
  const right: Args = { filter: { status: "failed" }, order: "newest" };
  // @ts-expect-error no such status
  const wrong: Args = { filter: { status: "x" } };
  expect([right, wrong]).toHaveLength(2);
});
