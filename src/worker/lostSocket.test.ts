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

/** Not a test's. */
const { setTimeout: realTimeout } = globalThis;

let server: Server;
let sockets: WebSocketServer;
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
  sockets = new WebSocketServer({ server });
  answer();
});

afterEach(async () => {
  vi.useRealTimers();
  for (const socket of sockets.clients) socket.terminate();
  sockets.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Time in steps until that is so. Answers come in real time, however slow the machine is. */
async function passUntil(isSo: () => boolean): Promise<void> {
  for (let steps = 0; steps < 2_000 && !isSo(); steps += 1) {
    await vi.advanceTimersByTimeAsync(1_000);
    await new Promise((resolve) => realTimeout(resolve, 5));
  }
  expect(isSo()).toBe(true);
}

/** The answer to each query: nothing waits. */
function answer(): void {
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
function cut(): readonly unknown[] {
  const upgrades = server.listeners("upgrade");
  server.removeAllListeners("upgrade").on("upgrade", (_, socket) => socket.destroy());
  for (const socket of sockets.clients) socket.terminate();
  return upgrades;
}

test("it asks again and again, where it had heard that nothing waits", async () => {
  const worker = new Worker({
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: "t" },
    ...{ api: anyApi["worker"] as any, handlers: { tiles: async () => null } },
    ...{ handleSignals: false, onEvent: () => {} },
  });
  const running = worker.run();
  let [known, quietFor] = [0, 0];
  // Without a subscription it claims every five seconds.
  await passUntil(() => {
    quietFor = claims === known ? quietFor + 1 : 0;
    known = claims;
    return sockets.clients.size === 1 && quietFor >= 60;
  });
  cut();
  await passUntil(() => claims >= known + 5);
  let isStopped = false;
  const stopped = worker.stop({ graceMs: 0 }).then(() => (isStopped = true));
  await passUntil(() => isStopped);
  await stopped;
  await running;
});

test("its subscriptions say that they know nothing, until there is a socket again, and then their answers, also the same ones", async () => {
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
  await passUntil(() => heard.length === 1);
  const upgrades = cut();
  await vi.advanceTimersByTimeAsync(SOCKET_LOST_MS / 2);
  expect(heard).toEqual([false]);
  await passUntil(() => heard.length === 2);
  expect(heard).toEqual([false, expect.any(Unanswered)]);
  server.removeAllListeners("upgrade");
  for (const upgrade of upgrades) server.on("upgrade", upgrade as () => void);
  await passUntil(() => heard.length === 3);
  expect(heard[2]).toBe(false);
  watch.end();
  await transport.close();
  await vi.advanceTimersByTimeAsync(2 * SOCKET_LOST_MS);
  expect(heard, "nothing after its end").toHaveLength(3);
});
