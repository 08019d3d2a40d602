/**
 * The WebSocket edge of the sync protocol: accepts sockets, frames messages, keeps connections alive, closes them with
 * the platform's codes. What messages mean is the session's concern.
 */
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import type { Database } from "../../engine/types.js";
import type { Environment } from "../../environment.js";
import type { AdminKey } from "../adminKey.js";
import type { Calls } from "../calls.js";
import { toPlatformError } from "../http.js";
import {
  CLOSE_TRY_AGAIN,
  MAX_BODY_BYTES,
  MAX_CLOSE_REASON_BYTES,
  PING_IDLE_MS,
} from "../limits.js";
import { CommitFeed } from "./commitFeed.js";
import type { ClientMessage, PlainMessage, Transition } from "./messages.js";
import { MutationLedger } from "./mutationLedger.js";
import { Session, type Connection } from "./session.js";
import { transitionFrames } from "./transitionChunks.js";

/** Clients connect to `/api/<their version>/sync`. */
const SYNC_PATH = /^\/(api\/)?([^/]+\/)?sync$/;

export interface SocketServerOptions {
  env: Environment;
  database: Database;
  calls: Calls;
  adminKey: AdminKey;
  /** Calls back whenever other code is deployed; returns the way to stop. */
  onInstalled: (listener: () => void) => () => void;
  onCrash: (error: unknown) => void;
}

export interface SocketServer {
  /** Ends every connection as if the network had: clients reconnect. */
  dropConnections(): void;
  close(): void;
}

export function attachSocketServer(server: Server, options: SocketServerOptions): SocketServer {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_BODY_BYTES });
  const feed = new CommitFeed(options.database);
  const ledger = new MutationLedger();
  const sessions = new Set<Session>();
  const stop = options.onInstalled(() => sessions.forEach((session) => session.deployed()));

  const accept = (socket: WebSocket): void => {
    const connection = new SocketConnection(socket, options);
    const session = new Session({ ...options, feed, ledger, connection });
    sessions.add(session);
    socket.on("message", (data: Buffer) => {
      const message = parse(data.toString("utf8"));
      if (message) session.receive(message);
      else connection.send({ type: "FatalError", error: "A message must be a JSON object." });
    });
    socket.on("error", () => socket.terminate());
    socket.on("close", () => {
      connection.stopPinging();
      session.close();
      sessions.delete(session);
    });
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

  return {
    dropConnections: () => sockets.clients.forEach((socket) => socket.terminate()),
    close() {
      stop();
      feed.close();
      sockets.clients.forEach((socket) => socket.close(1001, "Backend is stopping"));
      sockets.close();
    },
  };
}

class SocketConnection implements Connection {
  #lastSent: number;
  #ping: { cancel(): void };
  #transitions = 0;

  constructor(
    private readonly socket: WebSocket,
    private readonly options: SocketServerOptions,
  ) {
    this.#lastSent = options.env.now();
    this.#ping = this.#pingAfter(PING_IDLE_MS);
  }

  send(message: PlainMessage): void {
    void this.#sendFrame(JSON.stringify(message));
  }

  async sendTransition(transition: Transition): Promise<void> {
    const frames = transitionFrames(JSON.stringify(transition), String(++this.#transitions));
    await Promise.all([...frames].map((frame) => this.#sendFrame(frame)));
  }

  refuse(error: unknown): void {
    const { code, message } = toPlatformError(error, this.options.onCrash);
    // The client backs off by the code that the reason begins with.
    const reason = Buffer.from(`${code}: ${message}`).subarray(0, MAX_CLOSE_REASON_BYTES);
    this.socket.close(
      CLOSE_TRY_AGAIN,
      Buffer.from(reason.toString("utf8").replace(/\uFFFD+$/, "")),
    );
  }

  stopPinging(): void {
    this.#ping.cancel();
  }

  /** One timer a connection, which looks when it rings whether anything was sent meanwhile. */
  #pingAfter(ms: number): { cancel(): void } {
    return this.options.env.timer(ms, () => {
      const idle = this.options.env.now() - this.#lastSent;
      if (idle >= PING_IDLE_MS) this.send({ type: "Ping" });
      this.#ping = this.#pingAfter(
        Math.max(1, idle >= PING_IDLE_MS ? PING_IDLE_MS : PING_IDLE_MS - idle),
      );
    });
  }

  /** A socket that has closed takes nothing more; nobody waits for it. */
  #sendFrame(frame: string): Promise<void> {
    this.#lastSent = this.options.env.now();
    return new Promise((resolve) => this.socket.send(frame, () => resolve()));
  }
}

function parse(text: string): ClientMessage | null {
  try {
    const message = JSON.parse(text) as ClientMessage | null;
    return typeof message === "object" ? message : null;
  } catch {
    return null;
  }
}
