/** A worker's call before its token is known, and the validator to which a result is held. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LEASES_MAX } from "../shared/index.js";
import { checkFinished } from "./finished.js";
import {
  api,
  conveyor,
  pages,
  refusal,
  setup,
  setupSession,
  tiles,
  watching,
  type App,
} from "./setup.test.js";

/** A token of the right form, for this deployment, that was never made here. */
async function stranger(t: App) {
  const { token } = await setupSession(t);
  return { token: token.slice(0, -1) + (token.endsWith("0") ? "1" : "0"), sessionKey: "s" };
}
const warn = vi.spyOn(console, "warn");
beforeEach(() => warn.mockReset());
afterEach(() => vi.useRealTimers());

type Handler = (ctx: object, args: object) => Promise<unknown>;

const bad = (id = "nothing", queue = "tiles") => ({
  ...{ id, attempt: 1, queue },
  outcome: { kind: "succeeded" as const, result: { evil: true } },
});

describe("a token that was never made", () => {
  test("is answered that, and not which queues there are", async () => {
    const t = setup();
    const session = await stranger(t);
    const look = (kind: "hello" | "hasWork" | "peek") =>
      watching(t, session.token, { kind, queues: ["?"] });
    const claim = { queues: ["?"], max: 1 };
    for (const call of [
      look("hello"),
      look("hasWork"),
      look("peek"),
      t.mutation(api.app.claim, { ...session, name: "w", callSeq: 1, ...claim }),
      t.mutation(api.app.complete, { ...session, callSeq: 1, finished: [], claim }),
    ]) {
      const data = await refusal(call, "tokenUnknown");
      expect(JSON.stringify(data)).not.toContain("tiles");
    }
  });

  test("writes nothing into the log, with any reported outcomes", async () => {
    const t = setup();
    const session = await stranger(t);
    const finished = Array.from({ length: 3_000 }, () => bad());
    await refusal(
      t.mutation(api.app.complete, { ...session, callSeq: 1, finished }),
      "tokenUnknown",
    );
    const one = { ...session, finished: [bad()], later: true };
    await refusal(t.mutation(api.app.complete, one), "tokenUnknown");
    expect(warn).not.toHaveBeenCalled();
  });
});

describe("a token that is known", () => {
  test("reports no more at once than a session may hold, and nothing of it is checked", async () => {
    const { complete } = conveyor.workerApi({ queues: [tiles], authorize: () => true });
    const unread = new Proxy({}, { get: () => expect.fail("an outcome was read") });
    const finished = Array.from({ length: LEASES_MAX + 1 }, () => unread);
    const scope = { id: "t", name: "t", queues: null, groups: null };
    const ctx = { runQuery: () => Promise.resolve(scope) };
    const call = (complete as unknown as { _handler: Handler })._handler(ctx, {
      token: "t",
      finished,
    });
    await refusal(call, "invalidArgument");
  });

  test("logs nothing of leases that it does not hold", async () => {
    const t = setup();
    const session = await setupSession(t);
    const finished = [bad(), bad("another")];
    const { answers } = await t.mutation(api.app.complete, { ...session, callSeq: 1, finished });
    expect(answers.map(({ answer }) => answer)).toEqual(["leaseLost", "leaseLost"]);
    expect(warn).not.toHaveBeenCalled();
  });
});

describe("a result", () => {
  async function leased(t: App) {
    const session = await setupSession(t);
    const id = await t.mutation(...pages.enqueue("tiles", { x: 1 }));
    await t.mutation(api.app.claim, {
      ...session,
      name: "w",
      callSeq: 1,
      queues: ["tiles"],
      max: 1,
    });
    const report = async (queue: string | undefined, result: unknown) => {
      const one = { id, attempt: 1, outcome: { kind: "succeeded" as const, result } };
      const finished = [queue === undefined ? one : { ...one, queue }];
      return await t.mutation(api.app.complete, { ...session, callSeq: 2, finished });
    };
    return { id, sessionKey: session, report };
  }
  const FITS = { pixels: "p" };

  test.each([
    ["a laxer queue, and not fitting its own", "loose", { evil: true }],
    ["a laxer queue, and fitting its own", "loose", FITS],
  ])("reported for %s fails its job", async (_, queue, result) => {
    const t = setup();
    const { id, report } = await leased(t);
    const { answers } = await report(queue, result);
    expect(answers.map(({ answer }) => answer)).toEqual(["ok"]);
    expect(await t.query(...pages.status(id))).toMatchObject({
      status: "failed",
      error: expect.stringContaining(`fits "loose", and not its job's queue "tiles"`),
    });
  });

  test.each([
    ["fits", FITS, "succeeded"],
    ["does not fit", { evil: true }, "failed"],
  ])("reported without a queue is checked by its own, which it %s", async (_, result, status) => {
    const t = setup();
    const { id, report } = await leased(t);
    await report(undefined, result);
    expect(await t.query(...pages.status(id))).toMatchObject({ status });
  });

  test("of a queue that is not served any more is not recorded: its job goes back, and has not failed", async () => {
    const t = setup();
    const { id, report } = await leased(t);
    const { answers, refused } = await report("renamed", { evil: true });
    expect(answers).toMatchObject([{ id, attempt: 1, answer: "queueNotServed" }]);
    expect(refused).toBeUndefined();
    expect(await t.query(...pages.status(id))).toMatchObject({ status: "pending", failures: 0 });
    // So is a repeat of the call, and the operator finds it in the log.
    expect((await report("renamed", { evil: true })).answers).toEqual(answers);
    expect(warn.mock.calls.flat().join()).toContain("Add the queue to `conveyor.workerApi");
  });

  test("of a queue that is not served any more is not recorded by the last resort either", async () => {
    vi.useFakeTimers();
    const t = setup();
    const { id, sessionKey: session } = await leased(t);
    const finished = [{ id, attempt: 1, queue: "renamed", outcome: bad().outcome }];
    await t.mutation(api.app.complete, { ...session, finished, later: true });
    await t.finishAllScheduledFunctions(() => vi.advanceTimersByTime(1));
    expect(await t.query(...pages.status(id))).toMatchObject({ status: "pending", failures: 0 });
  });

  test("of a lease that is lost is answered so, for any queue", async () => {
    const t = setup();
    const { sessionKey: session } = await leased(t);
    const finished = [bad("nothing", "renamed")];
    const { answers } = await t.mutation(api.app.complete, { ...session, callSeq: 2, finished });
    expect(answers).toMatchObject([{ answer: "leaseLost" }]);
    expect(warn).not.toHaveBeenCalled();
  });

  test("without a name, where no queue is served any more, is not recorded either", async () => {
    const report = { id: "a", attempt: 1, outcome: bad().outcome };
    const none = { served: new Map(), continues: new Map() };
    const { checked, refused, notServed } = await checkFinished(none, [report]);
    expect(checked).toEqual([{ id: "a", attempt: 1, outcome: { kind: "released" } }]);
    expect(refused).toEqual([]);
    expect(notServed).toMatchObject([{ error: expect.stringContaining("queueNotServed") }]);
  });

  test("that another queue's validator has let through is none by the last resort either", async () => {
    vi.useFakeTimers();
    const t = setup();
    const { id, sessionKey: session } = await leased(t);
    const finished = { id, attempt: 1, queue: "loose", outcome: bad().outcome };
    await t.mutation(api.app.complete, { ...session, finished: [finished], later: true });
    await t.finishAllScheduledFunctions(() => vi.advanceTimersByTime(1));
    expect(await t.query(...pages.status(id))).toMatchObject({ status: "failed" });
  });
});
