/** A client's view of its mutation when the platform, not the app, refuses it; on virtual time, through the door. */
import { afterEach, expect, test } from "vitest";
import { createCore, type Core } from "../backend.js";
import type { Step } from "../environment.js";
import type { ClassLimits } from "../functions/classes.js";
import { makeDeployment, PRELUDE } from "../functions/testing.js";
import { createVirtualClock, type VirtualClock } from "../virtual/clock.js";

const LIB = `${PRELUDE}
  export const create = mutation((ctx) => ctx.db.insert("rows", { n: 0 }));
  export const add = mutation(async (ctx) => {
    const row = await ctx.db.query("rows").first();
    await ctx.db.insert("rows", { text: "x".repeat(60_000) });
    await ctx.db.patch(row._id, { n: row.n + 1 });
  });
  export const big = mutation((ctx) => ctx.db.insert("rows", { text: "x".repeat(100_000) }));
`;

let clock: VirtualClock;
let core: Core;

async function start(classLimits: Partial<ClassLimits>): Promise<void> {
  clock = createVirtualClock({ seed: 1, costs });
  const urls = { cloud: "http://backend.test", site: "http://site.test" };
  const options = { quiet: true, env: clock, runner: { classLimits } };
  core = await clock.run(() => createCore(urls, options));
  const deployment = await makeDeployment({ "": { "lib.ts": LIB } });
  await clock.run(() => core.runner.install(deployment));
  await mutate("lib:create");
}

/**
 * A long row takes 50 ms to write, in which other transactions commit, and a very long one longer than any call waits.
 */
function costs(step: Step): number {
  if (step.kind !== "write") return 0;
  return step.bytes > 100_000 ? 10_000 : step.bytes > 50_000 ? 50 : 0;
}

afterEach(() => clock.run(() => core.close()));

async function mutate(path: string): Promise<{ status: number; body: any }> {
  const request = new Request("http://backend.test/api/mutation", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ path, args: {} }),
  });
  const response = await clock.run(() => core.fetch(request));
  return { status: response.status, body: await response.json() };
}

/** The end of a connection that calls this mutation. */
function closedBy(path: string): Promise<{ code: number; reason: string }> {
  const socket = core.connect();
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.onClose = (code, reason) => resolve({ code, reason });
  });
  socket.send(
    JSON.stringify({ type: "Connect", sessionId: "s", connectionCount: 0, lastCloseReason: null }),
  );
  socket.send(JSON.stringify({ type: "Mutation", requestId: 0, udfPath: path, args: [{}] }));
  return clock.run(closed);
}

/** Repeats a call until the test has seen its result. */
async function meanwhile<T>(again: () => Promise<unknown>, see: () => Promise<T>): Promise<T> {
  let wanted = true;
  const going = (async () => {
    while (wanted) await again();
  })();
  try {
    return await see();
  } finally {
    wanted = false;
    await clock.run(going);
  }
}

/** Within 50 ms there are several of these. */
async function rewrite(): Promise<void> {
  const tx = core.database.begin();
  const rows = tx.stream("", { table: "rows", index: "by_creation_time", range: [], order: "asc" });
  for await (const { _id } of rows) await tx.patch("", _id, { n: clock.now() });
  await core.database.commit(tx, "lib:rival");
  await clock.sleep(5);
}

async function flood(): Promise<void> {
  const tx = core.database.begin();
  await tx.insert("", "rows", { text: "x".repeat(20_000) });
  await core.database.commit(tx, "flood");
  await clock.sleep(100);
}

const OCC = "OptimisticConcurrencyControlFailure";

test("a mutation that lost five times: 503, or the socket ends with 1013 and the code", async () => {
  await start({});
  const { status, body } = await meanwhile(rewrite, () => mutate("lib:add"));
  expect({ status, body }).toMatchObject({ status: 503, body: { code: OCC } });
  expect(body.message).toMatch(
    /"rows" table changed .* every subsequent retry\. A call to "lib:rival"/,
  );
  const closed = await meanwhile(rewrite, () => closedBy("lib:add"));
  expect(closed).toEqual({ code: 1013, reason: expect.stringContaining(OCC) });
});

test("a mutation without a permit: 429, or 1013", async () => {
  await start({ mutations: 1 });
  const holding = () =>
    core.runner.mutation(
      { namespace: "", path: "lib:big" },
      {},
      { identity: { kind: "none" }, publicOnly: true, requestId: "r" },
    );
  const first = holding();
  expect(await mutate("lib:add")).toMatchObject({
    status: 429,
    body: {
      code: "TooManyConcurrentRequests",
      message: expect.stringContaining("limited to 1 concurrent mutations"),
    },
  });
  await clock.run(first);
  const second = holding();
  const closed = await closedBy("lib:add");
  expect(closed).toEqual({
    code: 1013,
    reason: expect.stringContaining("TooManyConcurrentRequests"),
  });
  await clock.run(second);
});

test("a mutation that finds too much written five times: 429, or 1013", async () => {
  await start({ writeBytesPerSecond: 10_000 });
  await clock.run(flood);
  expect(await meanwhile(flood, () => mutate("lib:add"))).toMatchObject({
    status: 429,
    body: {
      code: "TooManyWrites",
      message: expect.stringContaining("10000 bytes written per second"),
    },
  });
  const closed = await meanwhile(flood, () => closedBy("lib:add"));
  expect(closed).toEqual({ code: 1013, reason: expect.stringContaining("TooManyWrites") });
});

test.each([
  ["Mutation", "TooManyConcurrentMutations", 1_002],
  ["Action", "TooManyInflightActionsForSingleClient", 1_002],
])(
  "%ss of one socket beyond the number that may be under way: 1013 and %s",
  async (type, reason, count) => {
    await start({});
    const socket = core.connect();
    const closed = new Promise<{ code: number; reason: string }>((resolve) => {
      socket.onClose = (code, why) => resolve({ code, reason: why });
    });
    socket.send(
      JSON.stringify({
        type: "Connect",
        sessionId: "s",
        connectionCount: 0,
        lastCloseReason: null,
      }),
    );
    for (let requestId = 0; requestId < count; requestId++) {
      socket.send(JSON.stringify({ type, requestId, udfPath: "lib:create", args: [{}] }));
    }
    expect(await clock.run(closed)).toEqual({ code: 1013, reason });
  },
);
