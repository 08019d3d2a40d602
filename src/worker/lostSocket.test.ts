/** A worker whose socket is lost for good while calls go on, as behind a proxy that lets HTTP alone through. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anyApi } from "convex/server";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WebSocketServer } from "ws";
import { WORKER_PROTOCOL } from "../shared/index.js";
import { connect } from "./convexTransport.js";
import { Worker } from "./index.node.js";
import { SOCKET_LOST_MS } from "./limits.js";
import { Unanswered } from "./transport.js";
import type { WorkerApi } from "./types.js";

let server: Server;
let claims: number;

beforeEach(async () => {
  const toFake = ["setTimeout", "clearTimeout", "performance"] as const;
  vi.useFakeTimers({ toFake: [...toFake], shouldAdvanceTime: true });
  claims = 0;
  server = createServer((request, response: ServerResponse) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      if (body.includes("worker:claim")) claims += 1;
      const value = { protocol: WORKER_PROTOCOL, version: "0.1.0", jobs: [], answers: [] };
      response.end(JSON.stringify({ status: "success", value }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterEach(async () => {
  vi.useRealTimers();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** The answer to each query: nothing waits. */
function answering(sockets: WebSocketServer): void {
  sockets.on("connection", (socket) => {
    const version = { querySet: 0, identity: 0, ts: "AAAAAAAAAAA=" };
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { type: string; modifications?: any[] };
      if (message.type !== "ModifyQuerySet") return;
      const modifications = message.modifications!.map(({ queryId }) => ({
        ...{ type: "QueryUpdated", queryId, value: false, logLines: [], journal: null },
      }));
      const endVersion = { ...version, querySet: 1, ts: "AQAAAAAAAAA=" };
      const transition = { type: "Transition", startVersion: version, endVersion, modifications };
      socket.send(JSON.stringify(transition));
    });
  });
}

/** From now on there is no socket. Returns the listeners that let one through. */
function cut(sockets: WebSocketServer): readonly unknown[] {
  const upgrades = server.listeners("upgrade");
  server.removeAllListeners("upgrade").on("upgrade", (_, socket) => socket.destroy());
  for (const socket of sockets.clients) socket.terminate();
  return upgrades;
}

test("it asks again and again, where it had heard that nothing waits", async () => {
  const sockets = new WebSocketServer({ server });
  answering(sockets);
  const worker = new Worker({
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: "t" },
    ...{ api: anyApi["worker"] as any, handlers: { tiles: async () => null } },
    ...{ handleSignals: false, onEvent: () => {} },
  });
  const running = worker.run();
  await vi.waitFor(() => expect(sockets.clients.size).toBe(1), 5_000);
  await vi.advanceTimersByTimeAsync(15_000);
  const before = claims;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(claims - before, "with a socket").toBe(0);
  cut(sockets);
  await vi.advanceTimersByTimeAsync(SOCKET_LOST_MS - 5_000);
  expect(claims - before, "it may come back").toBe(0);
  // Answers come in real time.
  for (let passed = 0; passed < 300_000 && claims - before < 5; passed += 1_000)
    await vi.advanceTimersByTimeAsync(1_000);
  expect(claims - before).toBe(5);
  const stopped = worker.stop({ graceMs: 0 });
  await vi.advanceTimersByTimeAsync(5_000);
  await stopped;
  await running;
  sockets.close();
});

test("its subscriptions say that they know nothing, until there is a socket again, and then their answers, also the same ones", async () => {
  const sockets = new WebSocketServer({ server });
  answering(sockets);
  const transport = connect({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ token: "t", sessionKey: "s", name: "w", queues: ["tiles"] },
    api: anyApi["worker"] as unknown as WorkerApi,
  });
  const heard: unknown[] = [];
  const watch = transport.watchHasWork(
    (_, waiting) => heard.push(waiting),
    (_, error) => heard.push(error),
  );
  await vi.waitFor(() => expect(heard).toEqual([false]), 5_000);
  const upgrades = cut(sockets);
  await vi.advanceTimersByTimeAsync(SOCKET_LOST_MS - 1_000);
  expect(heard).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(2 * SOCKET_LOST_MS);
  expect(heard).toEqual([false, expect.any(Unanswered)]);
  server.removeAllListeners("upgrade");
  for (const upgrade of upgrades) server.on("upgrade", upgrade as () => void);
  await vi.advanceTimersByTimeAsync(30_000);
  await vi.waitFor(() => expect(heard).toHaveLength(3), 5_000);
  expect(heard[2]).toBe(false);
  watch.end();
  await transport.close();
  await vi.advanceTimersByTimeAsync(2 * SOCKET_LOST_MS);
  expect(heard, "nothing after its end").toHaveLength(3);
  sockets.close();
});
