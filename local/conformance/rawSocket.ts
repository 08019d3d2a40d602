/** The sync protocol spoken by hand: a client's messages, and the server's, one by one. */
import { convexToJson, type Value } from "convex/values";
import { WebSocket } from "ws";
import type { Server } from "./target.js";

export type Message = Record<string, any> & { type: string };

const PATIENCE_MS = 20_000;

export class RawSocket {
  static async open(server: Server, connect: Record<string, unknown> = {}): Promise<RawSocket> {
    const url = `${server.url.replace(/^http/, "ws")}/api/1.48.0/sync`;
    const socket = new RawSocket(new WebSocket(url));
    await socket.#opened;
    socket.send({
      type: "Connect",
      sessionId: crypto.randomUUID(),
      connectionCount: 0,
      lastCloseReason: null,
      clientTs: 0,
      ...connect,
    });
    return socket;
  }

  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #opened: Promise<void>;
  /** Messages that were not asked for yet. */
  #inbox: Message[] = [];
  #wake: () => void = () => {};
  #version = 0;

  private constructor(private readonly socket: WebSocket) {
    this.#opened = new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    this.closed = new Promise((resolve) =>
      socket.once("close", (code, reason) => resolve({ code, reason: reason.toString() })),
    );
    socket.on("message", (data: Buffer) => {
      this.#inbox.push(JSON.parse(data.toString()) as Message);
      this.#wake();
    });
  }

  send(message: Message): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Adds queries; a number removes the query with that id. */
  modify(
    ...queries: (
      number | { id: number; path: string; args: Record<string, Value>; journal?: string }
    )[]
  ): void {
    const baseVersion = this.#version++;
    this.send({
      type: "ModifyQuerySet",
      baseVersion,
      newVersion: this.#version,
      modifications: queries.map((query) =>
        typeof query === "number"
          ? { type: "Remove", queryId: query }
          : {
              type: "Add",
              queryId: query.id,
              udfPath: query.path,
              args: [convexToJson(query.args)],
              ...(query.journal === undefined ? {} : { journal: query.journal }),
            },
      ),
    });
  }

  mutation(requestId: number, udfPath: string, args: Record<string, Value>): void {
    this.send({ type: "Mutation", requestId, udfPath, args: [convexToJson(args)] });
  }

  action(requestId: number, udfPath: string, args: Record<string, Value>): void {
    this.send({ type: "Action", requestId, udfPath, args: [convexToJson(args)] });
  }

  /** The next message, pings left out. */
  async next(): Promise<Message> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const message = this.#inbox.shift();
      if (message !== undefined && message.type !== "Ping") return message;
      if (message !== undefined) continue;
      const left = deadline - performance.now();
      if (left <= 0) throw new Error("No message came.");
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** The next message with this property; earlier ones are dropped. */
  async until(wanted: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const message = await this.next();
      if (wanted(message)) return message;
    }
  }

  /** All messages up to and with the first of which this holds. */
  async through(wanted: (message: Message) => boolean): Promise<Message[]> {
    const messages: Message[] = [];
    for (;;) {
      const message = await this.next();
      messages.push(message);
      if (wanted(message)) return messages;
    }
  }

  close(): void {
    this.socket.terminate();
  }
}

/** Runs with a socket, and always closes it. */
export async function withSocket(
  server: Server,
  run: (socket: RawSocket) => Promise<void>,
  connect: Record<string, unknown> = {},
): Promise<void> {
  const socket = await RawSocket.open(server, connect);
  try {
    await run(socket);
  } finally {
    socket.close();
  }
}

/** A timestamp as it is sent: eight bytes, low ones first, in base64. */
export function decodeTs(text: string): bigint {
  return Buffer.from(text, "base64").readBigUInt64LE();
}

export function encodeTs(ts: bigint): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(ts);
  return bytes.toString("base64");
}

/** A query's latest update in a transition. */
export function updated(message: Message, queryId: number): Record<string, any> | undefined {
  if (message.type !== "Transition") return undefined;
  const modifications = message["modifications"] as Record<string, any>[];
  return modifications.find((one) => one["queryId"] === queryId);
}
