/** A queue's jobs as pages see them through the app's own functions: page by page, and at a glance. */
import type { usePaginatedQuery } from "convex/react";
import { expect, test } from "vitest";
import { api, conveyor, pages, setup } from "./setup.test.js";

const waiting = { queue: "tiles", filter: { status: "pending" } } as const;
const paginationOpts = { numItems: 2, cursor: null };

test("a list is turned page by page through the app's own function", async () => {
  const t = setup();
  for (const x of [1, 2, 3]) await t.mutation(...pages.enqueue("tiles", { x }));
  await t.mutation(...pages.enqueue("loose", {}));
  const first = await t.query(api.app.list, { ...waiting, paginationOpts });
  expect(first.page).toMatchObject([{ queue: "tiles" }, { queue: "tiles" }]);
  expect(first.isDone).toBe(false);
  const second = await t.query(api.app.list, {
    ...waiting,
    paginationOpts: { numItems: 2, cursor: first.continueCursor },
  });
  expect(second).toMatchObject({ page: [{ queue: "tiles" }], isDone: true });
});

test("a queue is listed by its name, in an administration of all queues", async () => {
  const t = setup();
  await t.mutation(...pages.enqueue("loose", {}));
  const page = await t.run(
    async (ctx) => await conveyor.observe("loose").list(ctx as never, { paginationOpts }),
  );
  expect(page.page).toMatchObject([{ queue: "loose", status: "pending" }]);
});

test("every queue is seen at a glance, a page of them at a time", async () => {
  const t = setup();
  await t.mutation(...pages.enqueue("tiles", { x: 1 }));
  await t.mutation(...pages.enqueue("loose", {}));
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

test("a list's function is one that `usePaginatedQuery` takes, with the queue's filter", () => {
  type Args = Parameters<typeof usePaginatedQuery<typeof api.app.list>>[1];
  const right: Args = { queue: "tiles", filter: { status: "failed" }, order: "newest" };
  // @ts-expect-error no such status
  const wrong: Args = { queue: "tiles", filter: { status: "x" } };
  // @ts-expect-error no such queue
  const other: Args = { queue: "others" };
  expect([right, wrong, other]).toHaveLength(3);
});
