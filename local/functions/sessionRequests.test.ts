import { afterEach, describe, expect, test } from "vitest";
import { MemoryStore } from "../store/memoryStore.js";
import { SESSION_REQUEST_PART_CHARS } from "./limits.js";
import {
  createTestClock,
  PRELUDE,
  startTestBackend,
  type TestBackend,
  type TestOptions,
} from "./testing.js";
import type { SessionRequest } from "./types.js";

const DAY_MS = 86_400_000;

const SOURCES = {
  "": {
    "lib.ts": `${PRELUDE}
      export const add = mutation(async ({ db }, { n, fail, size }) => {
        console.log("adding", n);
        await db.insert("rows", { n });
        if (fail) throw new ConvexError("asked to");
        const rows = await db.query("rows").collect();
        return size === undefined ? rows.length : "é".repeat(size);
      });
      export const count = query(async ({ db }) => (await db.query("rows").collect()).length);`,
  },
};

let backend: TestBackend;
afterEach(() => backend.stop());

async function start(options: TestOptions = {}): Promise<void> {
  backend = await startTestBackend(SOURCES, options);
}

function call(session: SessionRequest, args: Record<string, string | number | boolean>) {
  return backend.runner.mutation({ namespace: "", path: "lib:add" }, args, {
    identity: { kind: "none" },
    publicOnly: true,
    requestId: "r",
    session,
  });
}

const first = { sessionId: "a", requestId: 0 };

describe("a client's mutation that is asked for again", () => {
  test("is answered as the first time, and not run", async () => {
    await start();
    const answer = await call(first, { n: 1 });
    await call({ sessionId: "a", requestId: 1 }, { n: 2 });
    expect(await call(first, { n: 1 })).toEqual(answer);
    expect(answer).toMatchObject({ ok: true, value: 1, logs: [expect.stringContaining("adding")] });
    expect(await backend.query("lib:count")).toBe(2);
  });

  test("is answered so by a backend that was started again", async () => {
    const store = new MemoryStore();
    await start({ database: { store } });
    const answer = await call(first, { n: 1 });
    await store.close();
    await backend.stop();
    await start({ database: { store } });
    expect(await call(first, { n: 1 })).toEqual(answer);
    expect(await backend.query("lib:count")).toBe(1);
  });

  test("is run once, though both are under way at once", async () => {
    await start();
    const both = await Promise.all([call(first, { n: 1 }), call(first, { n: 1 })]);
    expect(both[0]).toEqual(both[1]);
    expect(await backend.query("lib:count")).toBe(1);
  });

  test("is retried when it failed: nothing of it was kept", async () => {
    await start();
    expect(await call(first, { n: 1, fail: true })).toMatchObject({ ok: false });
    expect(await call(first, { n: 1 })).toMatchObject({ ok: true, value: 1 });
  });

  test("is another one under another number, or in another session", async () => {
    await start();
    await call(first, { n: 1 });
    await call({ ...first, requestId: 1 }, { n: 1 });
    await call({ ...first, sessionId: "b" }, { n: 1 });
    expect(await backend.query("lib:count")).toBe(3);
  });

  test("gives a result again that is larger than a document may be", async () => {
    await start();
    const size = 3 * SESSION_REQUEST_PART_CHARS + 1;
    const answer = await call(first, { n: 1, size });
    expect(answer).toMatchObject({ ok: true, value: "é".repeat(size) });
    expect(await call(first, { n: 1, size })).toEqual(answer);
  });

  test("is forgotten after 14 days, and not before", async () => {
    const clock = createTestClock();
    await start({ clock });
    await call(first, { n: 1 });
    clock.advance(13 * DAY_MS);
    await call({ ...first, requestId: 1 }, { n: 1 });
    expect(await call(first, { n: 1 })).toMatchObject({ value: 1 });
    clock.advance(1.5 * DAY_MS);
    const swept = new Promise<void>((resolve) => {
      const stop = backend.database.onPublish(({ source }) => {
        if (source !== "session_requests_cleanup") return;
        stop();
        resolve();
      });
    });
    await call({ ...first, requestId: 2 }, { n: 1 });
    await swept;
    expect(await call(first, { n: 1 })).toMatchObject({ value: 4 });
    expect(await call({ ...first, requestId: 1 }, { n: 1 })).toMatchObject({ value: 2 });
  });
});
