/** WebSockets as wires of the sync server: the upgrade of an HTTP connection, frames, codes. */
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { MAX_BODY_BYTES } from "../limits.js";
import type { SyncServer, Wire } from "./syncServer.js";

/** Clients connect to `/api/<their version>/sync`. */
const SYNC_PATH = /^\/(api\/)?([^/]+\/)?sync$/;

export function attachWebSockets(server: Server, sync: SyncServer): { close(): void } {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_BODY_BYTES });

  const accept = (socket: WebSocket): void => {
    const line = sync.accept(wireOf(socket));
    socket.on("message", (data: Buffer, isBinary: boolean) => {
      if (isBinary) line.receiveBinary();
      else line.receive(data.toString("utf8"));
    });
    socket.on("pong", () => line.heard());
    socket.on("ping", () => line.heard());
    socket.on("error", () => socket.terminate());
    socket.on("close", () => line.closed());
  };

  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const path = (request.url ?? "/").replace(/[?#].*$/s, "");
    if (!SYNC_PATH.test(path)) {
      // Node has taken its own listener away: without one, a client that resets the connection ends this process.
      socket.on("error", () => socket.destroy());
      socket.end("HTTP/1.1 404 Not Found\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, socket, head, accept);
  });

  return { close: () => sockets.close() };
}

function wireOf(socket: WebSocket): Wire {
  return {
    send: (frame) => new Promise((resolve) => socket.send(frame, () => resolve())),
    close: (code, reason) => socket.close(code, reason),
    ping: () => socket.ping(),
    terminate: () => socket.terminate(),
  };
}
