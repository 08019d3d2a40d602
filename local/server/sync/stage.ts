/**
 * For tests: a sync server on a real socket, with a test's own functions, users, database and timers, and clients with
 * messages to wait for.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { JSONValue } from "convex/values";
import { WebSocket } from "ws";
import type { Database, PublishedCommit, ReadSet, Ts } from "../../engine/types.js";
import { wallEnvironment, type Environment } from "../../environment.js";
import { ADMIN } from "../../functions/identity.js";
import type { Identity, UserAttributes } from "../../functions/types.js";
import { badAdminKey } from "../adminKey.js";
import type { Calls } from "../calls.js";
import { SyncServer } from "./syncServer.js";
import { attachWebSockets } from "./webSockets.js";

export type Message = Record<string, unknown> & { type: string };

export const ADMIN_KEY = "secret";

export class SyncStage {
  calls: Partial<Calls> = {};
  publish: (commit: Pick<PublishedCommit, "ts" | "touches">) => void = () => {};
  now = 0;
  verify = async (token: string): Promise<Identity> => user(token, Infinity);
  /** Timers that the server has set; they ring when a test says so. */
  readonly timers: { ms: number; run: () => void }[] = [];
  readonly #server = createServer();
  readonly #sync: SyncServer;
  readonly #sockets: { close(): void };
  readonly #clients: Client[] = [];
  readonly #database = {
    latestTs: 100n,
    onPublish: (listener: (commit: PublishedCommit) => void) => {
      this.publish = (commit) => listener(commit as PublishedCommit);
      return () => {};
    },
  };

  constructor() {
    const env: Environment = {
      ...wallEnvironment,
      now: () => this.now,
      timer: (ms, run) => {
        this.timers.push({ ms, run });
        return { cancel() {} };
      },
    };
    this.#sync = new SyncServer({
      env,
      database: this.#database as unknown as Database,
      calls: {
        query: (call) => this.calls.query!(call),
        mutation: (call) => this.calls.mutation!(call),
        action: (call) => this.calls.action!(call),
      } as Calls,
      authenticator: {
        admin(key, actingAs) {
          if (key !== ADMIN_KEY) throw badAdminKey();
          return actingAs ? { kind: "admin", actingAs: actingAs as UserAttributes } : ADMIN;
        },
        user: (token) => this.verify(token),
      },
      onInstalled: () => () => {},
      onCrash: (error) => {
        throw error;
      },
    });
    this.#sockets = attachWebSockets(this.#server, this.#sync);
  }

  set latestTs(ts: Ts) {
    this.#database.latestTs = ts;
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.socket.terminate();
    this.#sync.close();
    this.#sockets.close();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async connect(): Promise<Client> {
    const client = await this.socket();
    client.send({ ...CONNECT, clientTs: 5 });
    return client;
  }

  /** One that has said nothing yet. */
  async socket(): Promise<Client> {
    const { port } = this.#server.address() as AddressInfo;
    const client = new Client(new WebSocket(`ws://127.0.0.1:${port}/api/1.48.0/sync`));
    this.#clients.push(client);
    await client.opened;
    return client;
  }

  /** The last timer that was set for so long rings. */
  ring(ms: number): void {
    this.timers.findLast((timer) => timer.ms === ms)!.run();
  }
}

export const CONNECT = {
  type: "Connect",
  sessionId: "s",
  connectionCount: 0,
  lastCloseReason: null,
};

export function user(token: string, expiresAt: number): Identity {
  return { kind: "user", user: { subject: token }, expiresAt, token };
}

export function endOf(message: Message): { querySet?: number } {
  return message["endVersion"] ?? {};
}

export function answer(value: unknown, ts: Ts) {
  return {
    ok: true as const,
    value: value as JSONValue,
    logs: [],
    ts,
    reads: { intervals: 1 } as ReadSet,
    journal: null,
  };
}

export function addQuery(baseVersion: number, newVersion: number): Message {
  const modifications = [{ type: "Add", queryId: 0, udfPath: "a:b", args: [{}] }];
  return { type: "ModifyQuerySet", baseVersion, newVersion, modifications };
}

export function mutation(requestId: number, args: unknown = {}): Message {
  return { type: "Mutation", requestId, udfPath: "a:b", args: [args] };
}

/** A socket with messages that a test can wait for, in order. */
export class Client {
  readonly opened: Promise<void>;
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #messages: Message[] = [];
  #wake: () => void = () => {};

  constructor(readonly socket: WebSocket) {
    this.opened = new Promise((resolve, reject) => {
      socket.on("open", () => resolve());
      socket.on("error", reject);
    });
    this.closed = new Promise((resolve) => {
      socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    socket.on("message", (data: Buffer) => {
      this.#messages.push(JSON.parse(data.toString()) as Message);
      this.#wake();
    });
  }

  send(message: Message): void {
    this.socket.send(JSON.stringify(message));
  }

  /** All that was sent before has been read: an answer to a ping comes behind it. */
  async heard(): Promise<void> {
    await new Promise((resolve) => {
      this.socket.once("pong", resolve);
      this.socket.ping();
    });
  }

  async next(): Promise<Message> {
    while (this.#messages.length === 0) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return this.#messages.shift()!;
  }

  async until(wanted: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const message = await this.next();
      if (wanted(message)) return message;
    }
  }

  /** The next `count` messages of a type, without messages of other types. */
  async nextOf(type: string, count: number): Promise<Message[]> {
    const messages: Message[] = [];
    while (messages.length < count) {
      messages.push(await this.until((message) => message.type === type));
    }
    return messages;
  }
}
