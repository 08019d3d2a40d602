/** The wire, against a scripted server: which replies count as an answer, and which do not. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { anyApi } from "convex/server";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WebSocketServer } from "ws";
import { isConveyorError, WORKER_PROTOCOL } from "../shared/index.js";
import { connect } from "./convexTransport.js";
import { judge } from "./errors.js";
import { Worker } from "./index.node.js";
import type { Transport } from "./transport.js";
import type { WorkerApi } from "./types.js";

let server: Server;
let transport: Transport;
let answer: (response: ServerResponse, body: any) => void;
let bodies: any[];

beforeEach(async () => {
  bodies = [];
  server = createServer((request, response) => {
    // The socket that follows `hasWork` is refused: these tests are about calls.
    if (request.method !== "POST") return response.writeHead(404).end();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
      bodies.push(body);
      answer(response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  transport = connect({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: "t",
    sessionKey: "s",
    name: "w",
    api: anyApi["worker"] as unknown as WorkerApi,
    queues: ["tiles"],
  });
});

afterEach(async () => {
  await transport.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test("https in place of http: the reason names the mistake, in place of OpenSSL's words", async () => {
  const { port } = server.address() as AddressInfo;
  const secure = connect({
    ...{ url: `https://127.0.0.1:${port}`, token: "t", sessionKey: "s", name: "w" },
    ...{ api: anyApi["worker"] as unknown as WorkerApi, queues: ["tiles"] },
  });
  await expect(secure.hello()).rejects.toThrow(/^no TLS is spoken there: `url` begins with https/);
  await secure.close();
});

test("a `url` with a slash at its end names the same functions", async () => {
  const asked: unknown[] = [];
  server.prependListener("request", ({ url }) => void asked.push(url));
  answer = json(200, { status: "success", value: { protocol: 1, version: "0.1.0" } });
  const { port } = server.address() as AddressInfo;
  const slashed = connect({
    ...{ url: `http://127.0.0.1:${port}/`, token: "t", sessionKey: "s", name: "w" },
    ...{ api: anyApi["worker"] as unknown as WorkerApi, queues: ["tiles"] },
  });
  await slashed.hello();
  await slashed.close();
  expect(asked).toEqual(["/api/query"]);
});

// Shows CR-14.
test("a transport that polls opens no socket, and follows nothing", async () => {
  const upgraded = vi.fn();
  server.on("upgrade", (_, socket) => (upgraded(), socket.destroy()));
  const { port } = server.address() as AddressInfo;
  const polling = connect({
    ...{ url: `http://127.0.0.1:${port}`, token: "t", sessionKey: "s", name: "w" },
    ...{ api: anyApi["worker"] as unknown as WorkerApi, queues: ["tiles"], polls: true },
  });
  const told = vi.fn();
  polling.watchHasWork(told, told).end();
  polling.watchCancellations(told, told)();
  await new Promise((resolve) => setTimeout(resolve, 200));
  await polling.close();
  expect(upgraded).not.toHaveBeenCalled();
  expect(told).not.toHaveBeenCalled();
});

test("in a page it leaves no listener of the page behind: no change of the page's goes by its sockets", async () => {
  const heard = new Set<unknown>();
  const addEventListener = (_: string, listener: unknown) => void heard.add(listener);
  const removeEventListener = (_: string, listener: unknown) => void heard.delete(listener);
  vi.stubGlobal("window", { addEventListener, removeEventListener });
  transport.watchCancellations(vi.fn(), vi.fn())();
  expect(heard.size).toBeGreaterThan(0);
  await transport.close();
  vi.unstubAllGlobals();
  expect([...heard]).toEqual([]);
});

const json = (status: number, value: unknown) => (response: ServerResponse) => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
};

const failure = async () =>
  judge(
    await transport.claim(1, { max: 1 }).then(
      () => expect.fail("was answered"),
      (error: unknown) => error,
    ),
    true,
  );

test("a claim carries its session, its number, and the queues", async () => {
  answer = json(200, { status: "success", value: { jobs: [], cursor: "c" } });
  expect(await transport.claim(3, { max: 2, cursor: "b" })).toEqual({ jobs: [], cursor: "c" });
  expect(bodies[0]).toMatchObject({
    path: "worker:claim",
    args: [
      {
        token: "t",
        sessionKey: "s",
        name: "w",
        callSeq: 3,
        queues: ["tiles"],
        max: 2,
        cursor: "b",
      },
    ],
  });
});

test("a complete carries its claim and the word that callbacks come later, where there is one", async () => {
  answer = json(200, { status: "success", value: { answers: [], jobs: [] } });
  await transport.complete(4, [], { claim: { max: 1 }, deferCallbacks: true });
  await transport.complete(5, []);
  const [with_, without] = bodies as { args: object[] }[];
  expect(with_!.args).toEqual([
    {
      ...{ token: "t", sessionKey: "s", callSeq: 4, finished: [] },
      ...{ claim: { queues: ["tiles"], max: 1 }, deferCallbacks: true },
    },
  ]);
  expect(without!.args).toEqual([{ token: "t", sessionKey: "s", callSeq: 5, finished: [] }]);
});

test("a hello asks for its queues, and is the same for the whole fleet", async () => {
  answer = json(200, { status: "success", value: { protocol: 1, version: "0.1.0" } });
  expect(await transport.hello()).toEqual({ protocol: 1, version: "0.1.0" });
  expect(bodies[0]).toMatchObject({
    path: "worker:watch",
    args: [{ token: "t", call: { kind: "hello", queues: ["tiles"] } }],
  });
});

test("an outcome is handed over by a complete that is not numbered", async () => {
  answer = json(200, { status: "success", value: { answers: [], jobs: [] } });
  const one = { id: "a", attempt: 1, queue: "tiles", outcome: { kind: "released" as const } };
  await transport.completeLater(one);
  expect(bodies[0]).toMatchObject({ path: "worker:complete" });
  expect(bodies[0].args).toEqual([{ token: "t", sessionKey: "s", finished: [one], later: true }]);
});

test.each([
  ["the server is overloaded", json(503, { code: "Overloaded", message: "later" })],
  ["there are too many requests", json(429, { code: "TooMany", message: "later" })],
  ["a proxy answers", (response: ServerResponse) => response.writeHead(200).end("<html>")],
  ["a proxy answers in JSON of its own", json(200, { error: "no route" })],
  [
    "a proxy cuts the answer off",
    (response: ServerResponse) => response.writeHead(200).end('{"status":"success","value":{"jo'),
  ],
  ["the connection breaks", (response: ServerResponse) => response.destroy()],
  [
    "the connection breaks in the middle of the answer",
    (response: ServerResponse) => {
      response.writeHead(200, { "content-length": "1000" }).write('{"status":');
      setImmediate(() => response.destroy());
    },
  ],
])("when %s, the outcome of the call is unknown", async (_, how) => {
  answer = how;
  expect(await failure()).toMatchObject({ kind: "unanswered" });
});

test.each([
  ["a function threw", json(200, { status: "error", errorMessage: "Server Error" })],
  [
    "a function threw, in the platform's own status",
    json(560, { status: "error", errorMessage: "x" }),
  ],
  [
    "it conflicted too often",
    json(503, { code: "OptimisticConcurrencyControlFailure", message: "changed" }),
  ],
  ["the call is malformed", json(400, { code: "BadRequest", message: "no" })],
])("when %s, nothing came of the call", async (_, how) => {
  answer = how;
  expect(await failure()).toMatchObject({ kind: "rejected" });
});

test("a refusal without Conveyor's words is told by its status, and a page that comes with it is cut", async () => {
  answer = (response) => response.writeHead(404).end();
  expect(await failure()).toEqual({ kind: "rejected", message: "HTTP 404" });
  answer = (response) => response.writeHead(403).end("<html>".repeat(100_000));
  const { message } = (await failure()) as { message: string };
  expect(message).toMatch(/^HTTP 403: <html><html>.{1,600}$/);
});

test("Conveyor's errors arrive with their code", async () => {
  const errorData = { code: "tokenRevoked", message: "This token was revoked." };
  answer = json(200, { status: "error", errorMessage: "Uncaught ConvexError", errorData });
  const end = await failure();
  expect(end).toMatchObject({ kind: "fatal", error: { message: "This token was revoked." } });
  expect(isConveyorError((end as { error: unknown }).error, "tokenRevoked")).toBe(true);
});

// Rules out D24.
test("a beat does not wait behind a complete that takes its time", async () => {
  let release = () => {};
  answer = (response, { path }: { path: string }) => {
    const value = path === "worker:heartbeat" ? { answers: [] } : { answers: [], jobs: [] };
    const reply = () => json(200, { status: "success", value })(response);
    if (path === "worker:complete") release = reply;
    else reply();
  };
  const slow = transport.complete(1, []);
  expect(await transport.heartbeat([])).toEqual({ answers: [] });
  release();
  await slow;
});

test("subscriptions to waiting jobs are the same for the whole fleet, so that it shares one answer", async () => {
  const sockets = new WebSocketServer({ server });
  const asked: unknown[] = [];
  sockets.on("connection", (socket) => {
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { type: string; modifications?: any[] };
      if (message.type !== "ModifyQuerySet") return;
      asked.push(message.modifications!.map(({ udfPath, args }) => ({ udfPath, args })));
    });
  });
  const other = connect({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ token: "t", sessionKey: "another", name: "other", queues: ["tiles"] },
    api: anyApi["worker"] as unknown as WorkerApi,
  });
  for (const one of [transport, other]) {
    one.watchHasWork(
      () => {},
      () => {},
    );
  }
  await vi.waitFor(() => expect(asked).toHaveLength(2), 5_000);
  expect(asked[0]).toEqual(asked[1]);
  expect(asked[0]).toEqual([
    {
      udfPath: "worker:watch",
      args: [{ token: "t", call: { kind: "hasWork", queues: ["tiles"], naming: true } }],
    },
  ]);
  await other.close();
  sockets.close();
});

test("word that a job is canceled does not wait for a hasWork that takes its time", async () => {
  // As the platform does, it tells a socket of all its queries together: here of none, where one of them is `hasWork`.
  const sockets = new WebSocketServer({ server });
  const canceled = [{ id: "job", attempt: 1 }];
  sockets.on("connection", (socket) => {
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { type: string; modifications?: any[] };
      if (message.type !== "ModifyQuerySet") return;
      const queries = message.modifications!;
      if (queries.some(({ args }) => args[0].call.kind === "hasWork")) return;
      const version = { querySet: 0, identity: 0, ts: "AAAAAAAAAAA=" };
      const modifications = queries.map(({ queryId }) => ({
        ...{ type: "QueryUpdated", queryId, value: canceled, logLines: [], journal: null },
      }));
      const startVersion = version;
      const endVersion = { ...version, querySet: 1, ts: "AQAAAAAAAAA=" };
      socket.send(JSON.stringify({ type: "Transition", startVersion, endVersion, modifications }));
    });
  });
  const heard: unknown[] = [];
  transport.watchHasWork(
    () => expect.fail("was told"),
    () => {},
  );
  transport.watchCancellations(
    (leases) => heard.push(leases),
    () => {},
  );
  await vi.waitFor(() => expect(heard).toEqual([canceled]), 5_000);
  sockets.close();
});

// Shows CR-14, C13.
test("a worker with `poll` claims again and again and opens no socket, and one without it opens one", async () => {
  const upgraded = vi.fn();
  server.on("upgrade", (_, socket) => (upgraded(), socket.destroy()));
  answer = (response, { path, args }) => {
    const isHello = path === "worker:watch" && args[0].call.kind === "hello";
    const hello = { protocol: WORKER_PROTOCOL, version: "0.1.0" };
    const reply = { jobs: [], answers: [], cursor: "c", session: "s1" };
    json(200, { status: "success", value: isHello ? hello : reply })(response);
  };
  const start = (poll?: { everyMs: number }) => {
    const { port } = server.address() as AddressInfo;
    const worker = new Worker({
      ...{ url: `http://127.0.0.1:${port}`, token: "t", name: "w", handleSignals: false },
      ...{ api: anyApi["worker"] as any, handlers: { tiles: async () => null } },
      ...{ onEvent: () => {}, ...(poll && { poll }) },
    });
    return { worker, running: worker.run() };
  };
  const claims = () => bodies.filter(({ path }) => path === "worker:claim").length;
  const polling = start({ everyMs: 250 });
  await vi.waitFor(() => expect(claims()).toBeGreaterThanOrEqual(3), 10_000);
  await polling.worker.stop({ graceMs: 0 });
  await polling.running;
  expect(upgraded).not.toHaveBeenCalled();
  const following = start();
  await vi.waitFor(() => expect(upgraded).toHaveBeenCalled(), 10_000);
  await following.worker.stop({ graceMs: 0 });
  await following.running;
});

test("a call has the time that a slow line takes for its bytes, and a beat no more than before", async () => {
  answer = json(200, { status: "success", value: { answers: [], jobs: [] } });
  const times = vi.spyOn(AbortSignal, "timeout");
  const result = "x".repeat(2 ** 20 - 4_096);
  const outcome = { kind: "succeeded" as const, result };
  await transport.complete(1, [{ id: "a", attempt: 1, queue: "tiles", outcome }]);
  await transport.heartbeat([]);
  const [complete, beat] = times.mock.calls.map(([ms]) => ms);
  times.mockRestore();
  expect(complete).toBeGreaterThan(30_000 + result.length / 32);
  expect(complete).toBeLessThan(65_000);
  expect(beat).toBeLessThan(10_100);
});

test("a worker ends though its socket has no answer, and never gets one", async () => {
  const unanswered: Duplex[] = [];
  server.on("upgrade", (_, socket: Duplex) => void unanswered.push(socket));
  answer = json(200, { status: "success", value: { protocol: WORKER_PROTOCOL, jobs: [] } });
  const { port } = server.address() as AddressInfo;
  const worker = new Worker({
    ...{ url: `http://127.0.0.1:${port}`, token: "t", name: "w", handleSignals: false },
    ...{ api: anyApi["worker"] as any, handlers: { tiles: async () => null }, onEvent: () => {} },
  });
  const running = worker.run();
  await vi.waitFor(() => expect(unanswered).toHaveLength(1), 10_000);
  await worker.stop({ graceMs: 0 });
  await running;
  for (const socket of unanswered) socket.destroy();
});

test("a reply that says that work is late is followed by calls that tend it, until one says that no more is left", async () => {
  const claimed = { jobs: [], cursor: "{}", session: "s1", isLate: true };
  let tended = 0;
  const isOver = new Promise<void>((resolve) => {
    answer = (response, { path, args }) => {
      const isTending = path === "worker:heartbeat" && args[0].tend !== undefined;
      const value = isTending ? { answers: [], isLate: (tended += 1) < 3 } : claimed;
      json(200, { status: "success", value, logLines: [] })(response);
      if (tended === 3) resolve();
    };
  });
  await transport.claim(1, { max: 1 });
  await isOver;
  // The next call comes after a fourth that tends, if one was made.
  await transport.hello();
  const calls = bodies.filter(({ path }) => path === "worker:heartbeat");
  expect(calls.map(({ args }) => args[0])).toEqual(
    Array.from({ length: 3 }, () => ({ token: "t", sessionKey: "s", leases: [], tend: ["tiles"] })),
  );
});

test("a call that tends and fails is not repeated: the next reply says so again", async () => {
  let tended = 0;
  const isRefused = new Promise<void>((resolve) => {
    answer = (response, { path }) => {
      const value = { answers: [], jobs: [], cursor: "{}", session: "s1", isLate: tended === 0 };
      if (path !== "worker:heartbeat")
        return json(200, { status: "success", value, logLines: [] })(response);
      tended += 1;
      response.once("finish", resolve);
      json(500, { code: "Overloaded" })(response);
    };
  });
  await transport.claim(1, { max: 1 });
  await isRefused;
  for (let n = 2; n < 5; n += 1) await transport.claim(n, { max: 1 });
  expect(tended).toBe(1);
});
