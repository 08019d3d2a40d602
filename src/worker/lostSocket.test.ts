/** A worker whose socket is lost for good while calls go on, as behind a proxy that lets HTTP alone through. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anyApi } from "convex/server";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WebSocketServer } from "ws";
import { connect } from "./convexTransport.js";
import { SOCKET_LOST_MS } from "./limits.js";
import { Unanswered } from "./transport.js";
import type { WorkerApi } from "./types.js";

let server: Server;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
  server = createServer((_, response: ServerResponse) => response.writeHead(404).end());
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
  const refuse = vi.fn((_: unknown, socket: { destroy: () => void }) => void socket.destroy());
  const upgrades = server.listeners("upgrade");
  server.removeAllListeners("upgrade").on("upgrade", refuse);
  for (const socket of sockets.clients) socket.terminate();
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
