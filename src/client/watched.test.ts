/** Jobs as pages read them, through the app's own functions, and as the app reads them through its queue. */
import { expect, test } from "vitest";
import { api, loose, pages, setup, setupSession, tiles, type App } from "./setup.test.js";

async function oneRunning(t: App) {
  const id = await t.mutation(...pages.enqueue("tiles", { x: 1 }));
  const session = await setupSession(t);
  await t.mutation(api.app.claim, { ...session, name: "w", callSeq: 1, queues: ["tiles"], max: 1 });
  const about = { id: id as string, attempt: 1 };
  const { answers } = await t.mutation(api.app.report, {
    ...session,
    updates: [{ ...about, value: 0.5 }],
    logs: [{ ...about, entry: 0, level: "warn", message: "hm" }],
    output: [{ ...about, index: 0, text: "so " }],
  });
  expect(answers).toEqual([{ ...about, answer: "ok", nextIndex: 1 }]);
  return { id, sessionKey: session };
}

test("progress, log, output and attempts of a job are read by its id", async () => {
  const t = setup();
  const { id } = await oneRunning(t);
  const args = { id: id as string };
  const [job, none] = await t.query(...pages.statuses([id, "nonsense"]));
  expect(job).toMatchObject({ status: "running", worker: "w", progress: 0.5 });
  expect(none).toBeNull();
  expect((await t.query(api.app.logs, args))?.entries).toMatchObject([{ message: "hm" }]);
  expect((await t.query(api.app.output, args))?.parts).toEqual([{ index: 0, text: "so " }]);
  expect(await t.query(...pages.status(id, { attempts: 5 }))).toMatchObject({
    attempts: [{ attempt: 1, outcome: "running", worker: "w" }],
  });
});

test("a queue's methods are typed by its own results and ids", async () => {
  const t = setup();
  const { id } = await oneRunning(t);
  // @ts-expect-error the id is one of `tiles`
  const read = async () => await loose.status({} as never, id);
  expect(read).toBeTypeOf("function");
});

test("a page receives the error, and the app's own code also its place", async () => {
  const t = setup();
  const { id, sessionKey: session } = await oneRunning(t);
  const outcome = {
    kind: "failed" as const,
    error: "no such scene",
    trace: "TypeError: no such scene",
  };
  await t.mutation(api.app.complete, {
    ...session,
    callSeq: 2,
    finished: [{ id, attempt: 1, outcome }],
  });
  const [shown] = (await t.query(...pages.status(id, { attempts: true })))?.attempts ?? [];
  expect(shown).toMatchObject({ error: "no such scene" });
  expect(shown).not.toHaveProperty("trace");
  const own = await t.run(async (ctx) => await tiles.attempts(ctx as never, id as never));
  expect(own).toMatchObject([{ error: "no such scene", trace: "TypeError: no such scene" }]);
});

test("options that name another queue or job, as a page's arguments may, reach none but the method's own", async () => {
  const t = setup();
  const { id } = await oneRunning(t);
  const own = await t.mutation(...pages.enqueue("loose", {}));
  const other = { queue: "tiles", id: id as string };
  const listed = { queue: "tiles", paginationOpts: { numItems: 10, cursor: null } };
  const first = { queue: "tiles", limit: 10 };
  const last = { queue: "tiles", last: 5 };
  const page = { ...other, limit: 10 };
  const why = { ...other, reason: "Mine." };
  await t.run(async (given) => {
    const ctx = given as never;
    expect((await loose.list(ctx, listed)).page.map((job) => job.id)).toEqual([own]);
    expect(await loose.logs(ctx, own, page)).toMatchObject({ entries: [] });
    expect(await loose.output(ctx, own, page)).toMatchObject({ parts: [] });
    expect(await loose.attempts(ctx, own, page)).toEqual([]);
    expect((await loose.counts(ctx, first)).running.count).toBe(0);
    expect((await loose.health(ctx, last)).ran).toBe(0);
    expect(await loose.control.events(ctx, first)).toEqual([]);
    expect(await loose.cancel(ctx, own, why)).toMatchObject({ canceled: true });
    expect(await loose.control.cancelMany(ctx, {}, first)).toMatchObject({ changed: 0 });
  });
  const job = await t.query(...pages.status(id));
  expect(job).toMatchObject({ status: "running" });
  expect(job).not.toHaveProperty("cancelRequestedAt");
});
