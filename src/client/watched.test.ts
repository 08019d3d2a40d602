/** What pages read of jobs through the app's own functions: each asks `authorize` first, and knows its own queue only. */
import { ConvexError } from "convex/values";
import { describe, expect, test } from "vitest";
import { api, loose, setup, setupSession, tiles, type App } from "./setup.test.js";

async function oneRunning(t: App) {
  const id = await t.mutation(api.app.enqueue, { payload: { x: 1 } });
  const session = await setupSession(t);
  await t.mutation(api.app.claim, { ...session, name: "w", n: 1, queues: ["tiles"], max: 1 });
  const about = { id: id as string, attempt: 1 };
  const { answers } = await t.mutation(api.app.report, {
    ...session,
    updates: [{ ...about, value: 0.5 }],
    logs: [{ ...about, entry: 0, level: "warn", message: "hm" }],
    output: [{ ...about, index: 0, text: "so " }],
  });
  expect(answers).toEqual([{ ...about, answer: "ok", nextIndex: 1 }]);
  return { id, session };
}

test("progress, log, output and attempts of a job are read by its id", async () => {
  const t = setup();
  const { id } = await oneRunning(t);
  const args = { id: id as string };
  const [job, none] = await t.query(api.app.statusBatch, { ids: [id, "nonsense"] });
  expect(job).toMatchObject({ status: "running", worker: "w", progress: 0.5 });
  expect(none).toBeNull();
  expect((await t.query(api.app.logs, args))?.entries).toMatchObject([{ message: "hm" }]);
  expect((await t.query(api.app.output, args))?.parts).toEqual([{ index: 0, text: "so " }]);
  expect(await t.query(api.app.attempts, { ...args, limit: 5 })).toMatchObject([
    { attempt: 1, outcome: "running", worker: "w" },
  ]);
});

describe("a job of another queue", () => {
  test.each(["status", "attempts", "logs", "output"] as const)("has no %s here", async (read) => {
    const t = setup();
    const id = await t.mutation(api.app.looseEnqueue, { payload: 1 });
    const asked = api.app[read] as typeof api.app.attempts;
    expect(await t.query(asked, { id })).toBeNull();
  });
});

test.each(["status", "statusBatch", "attempts", "logs", "output"] as const)(
  "%s asks `authorize` with the call and its ids, and reads nothing if that throws",
  async (kind) => {
    const t = setup();
    const { id } = await oneRunning(t);
    const asked: unknown[] = [];
    const functions = tiles.api({
      authorize: async (_ctx, call) => {
        asked.push(call);
        throw new ConvexError("Not you.");
      },
    });
    const handler = (functions[kind] as any)._handler as (ctx: any, args: any) => Promise<unknown>;
    const args = kind === "statusBatch" ? { ids: [id] } : { id };
    await expect(handler({ runQuery: () => expect.fail("was read") }, args)).rejects.toThrow("Not");
    expect(asked).toEqual([{ kind, ...args }]);
  },
);

test("a queue's methods are typed by its own results and ids", async () => {
  const t = setup();
  const { id } = await oneRunning(t);
  // @ts-expect-error the id is one of `tiles`
  const read = async () => await loose.status({} as never, id);
  expect(read).toBeTypeOf("function");
});

test("a page is told what failed, and the app's own code also where", async () => {
  const t = setup();
  const { id, session } = await oneRunning(t);
  const outcome = {
    kind: "failed" as const,
    error: "no such scene",
    trace: "TypeError: no such scene",
  };
  await t.mutation(api.app.complete, {
    ...session,
    n: 2,
    finished: [{ id, attempt: 1, outcome }],
  });
  const [shown] = (await t.query(api.app.attempts, { id })) ?? [];
  expect(shown).toMatchObject({ error: "no such scene" });
  expect(shown).not.toHaveProperty("trace");
  const own = await t.run(async (ctx) => await tiles.attempts(ctx as never, id as never));
  expect(own).toMatchObject([{ error: "no such scene", trace: "TypeError: no such scene" }]);
});
