/** The sync protocol message by message, against functions that are made up here. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Database, PublishedCommit, ReadSet, Ts } from "../../engine/types.js";
import { wallEnvironment, type Environment } from "../../environment.js";
import { PlatformError } from "../../functions/errors.js";
import { AdminKey } from "../adminKey.js";
import type { Call, Calls } from "../calls.js";
import { PING_IDLE_MS, TRANSITION_CHUNK_BYTES } from "../limits.js";
import { SyncServer } from "./syncServer.js";
import { attachWebSockets } from "./webSockets.js";

type Message = Record<string, unknown> & { type: string };

describe("the sync protocol", () => {
  const server = createServer();
  let sync: SyncServer;
  let sockets: { close(): void };
  let clients: Client[] = [];
  let calls: Partial<Calls>;
  let publish: (commit: PublishedCommit) => void;
  let database: { latestTs: Ts };
  /** Timers that the server has set; they ring when a test says so. */
  let timers: { ms: number; run: () => void }[];
  let now: number;

  beforeEach(async () => {
    calls = {};
    timers = [];
    now = 0;
    database = { latestTs: 100n };
    const env: Environment = {
      ...wallEnvironment,
      now: () => now,
      timer(ms, run) {
        timers.push({ ms, run });
        return { cancel() {} };
      },
    };
    sync = new SyncServer({
      env,
      database: {
        get latestTs() {
          return database.latestTs;
        },
        onPublish(listener: (commit: PublishedCommit) => void) {
          publish = listener;
          return () => {};
        },
      } as unknown as Database,
      calls: {
        query: (call) => calls.query!(call),
        mutation: (call) => calls.mutation!(call),
        action: (call) => calls.action!(call),
      } as Calls,
      adminKey: new AdminKey("secret"),
      onInstalled: () => () => {},
      onCrash: (error) => {
        throw error;
      },
    });
    sockets = attachWebSockets(server, sync);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });

  afterEach(async () => {
    for (const client of clients) client.socket.terminate();
    clients = [];
    sync.close();
    sockets.close();
    server.removeAllListeners("upgrade");
    await new Promise((resolve) => server.close(resolve));
  });

  async function connect(): Promise<Client> {
    const { port } = server.address() as AddressInfo;
    const client = new Client(new WebSocket(`ws://127.0.0.1:${port}/api/1.48.0/sync`));
    clients.push(client);
    await client.opened;
    client.send({ type: "Connect", sessionId: "s", connectionCount: 0, lastCloseReason: null });
    return client;
  }

  const version = (querySet: number, identity: number, ts: string) => ({ querySet, identity, ts });
  const TS_0 = "AAAAAAAAAAA=";
  const TS_100 = "ZAAAAAAAAAA=";
  const TS_101 = "ZQAAAAAAAAA=";

  test("each transition begins where the last one ended", async () => {
    calls.query = async () => answer("first", 100n);
    const client = await connect();
    client.send(addQuery(0, 1));
    expect(await client.next()).toEqual({
      type: "Transition",
      startVersion: version(0, 0, TS_0),
      endVersion: version(1, 0, TS_100),
      modifications: [
        { type: "QueryUpdated", queryId: 0, value: "first", logLines: [], journal: null },
      ],
    });
    calls.query = async () => answer("second", 101n);
    database.latestTs = 101n;
    publish({ ts: 101n, source: "test", bytes: 0, touches: () => true });
    expect(await client.next()).toMatchObject({
      startVersion: version(1, 0, TS_100),
      endVersion: version(1, 0, TS_101),
      modifications: [{ value: "second" }],
    });
  });

  test("a mutation's response comes before the transition that shows its effect", async () => {
    calls.mutation = async () => {
      database.latestTs = 101n;
      return { ok: true, value: 7, logs: ["[LOG] 'x'"], ts: 101n };
    };
    const client = await connect();
    client.send(mutation(3));
    expect(await client.next()).toEqual({
      type: "MutationResponse",
      requestId: 3,
      success: true,
      result: 7,
      ts: TS_101,
      logLines: ["[LOG] 'x'"],
    });
    expect(await client.next()).toMatchObject({
      type: "Transition",
      endVersion: version(0, 0, TS_101),
      modifications: [],
    });
  });

  test("one client's mutations run one after the other, in the order they came", async () => {
    const begun: unknown[] = [];
    let running = 0;
    calls.mutation = async ({ args }: Call) => {
      begun.push(args);
      expect(++running).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return { ok: true, value: null, logs: [], ts: 100n };
    };
    const client = await connect();
    for (const requestId of [0, 1, 2]) client.send(mutation(requestId, { n: requestId }));
    await client.nextOf("MutationResponse", 3);
    expect(begun).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
  });

  test("what the platform refuses ends the socket with 1013 and its code: the client tries again", async () => {
    calls.mutation = async () => {
      throw new PlatformError(503, "OptimisticConcurrencyControlFailure", "😀".repeat(100));
    };
    const client = await connect();
    client.send(mutation(0));
    const { code, reason } = await client.closed;
    expect(code).toBe(1013);
    expect(reason).toMatch(/^OptimisticConcurrencyControlFailure: (😀)+$/u);
  });

  test("an action's failure carries its data", async () => {
    calls.action = async () => ({ ok: false, message: "no", data: { code: 1 }, logs: [] });
    const client = await connect();
    client.send({ ...mutation(0), type: "Action" });
    expect(await client.next()).toEqual({
      type: "ActionResponse",
      requestId: 0,
      success: false,
      result: "no",
      errorData: { code: 1 },
      logLines: [],
    });
  });

  test("the admin's key opens what is not public, and another key is a fatal error", async () => {
    const identities: unknown[] = [];
    calls.query = async ({ identity }) => {
      identities.push(identity.kind);
      return answer(null, 100n);
    };
    const client = await connect();
    client.send({ type: "Authenticate", tokenType: "Admin", value: "secret", baseVersion: 0 });
    client.send(addQuery(0, 1));
    await client.until(
      (message) => (message["endVersion"] as { querySet?: number }).querySet === 1,
    );
    expect(identities).toEqual(["admin"]);
    client.send({ type: "Authenticate", tokenType: "Admin", value: "guess", baseVersion: 1 });
    expect(await client.nextOf("FatalError", 1)).toMatchObject([
      { error: expect.stringContaining("admin key was invalid") as unknown },
    ]);
  });

  test("a user's token is an AuthError, so that the client goes on without", async () => {
    const client = await connect();
    client.send({ type: "Authenticate", tokenType: "User", value: "jwt", baseVersion: 0 });
    expect(await client.next()).toMatchObject({
      type: "AuthError",
      baseVersion: 0,
      authUpdateAttempted: true,
      error: expect.stringContaining("does not verify users' tokens") as unknown,
    });
  });

  test("a change from another version than the server's is fatal: the client has lost count", async () => {
    const client = await connect();
    client.send(addQuery(4, 5));
    expect(await client.next()).toMatchObject({ type: "FatalError" });
  });

  test("nothing is served before Connect, and no message is not JSON", async () => {
    const { port } = server.address() as AddressInfo;
    const client = new Client(new WebSocket(`ws://127.0.0.1:${port}/sync`));
    clients.push(client);
    await client.opened;
    client.send(mutation(0));
    client.socket.send("hello?");
    expect(await client.nextOf("FatalError", 2)).toMatchObject([
      { error: "The first message must be Connect." },
      { error: "A message must be a JSON object." },
    ]);
  });

  test("a client that has seen the future of this backend is turned away, not answered with the past", async () => {
    const client = await connect();
    const ahead = new Client(new WebSocket(client.socket.url));
    clients.push(ahead);
    await ahead.opened;
    ahead.send({
      type: "Connect",
      sessionId: "t",
      connectionCount: 1,
      maxObservedTimestamp: TS_101,
    });
    expect((await ahead.closed).reason).toContain("MaxObservedTimestampInFuture");
  });

  test("a result over 5 MB comes in parts", async () => {
    calls.query = async () => answer("x".repeat(TRANSITION_CHUNK_BYTES + 1), 100n);
    const client = await connect();
    client.send(addQuery(0, 1));
    const first = await client.next();
    expect(first).toMatchObject({ type: "TransitionChunk", partNumber: 0 });
    const rest = await client.nextOf("TransitionChunk", (first["totalParts"] as number) - 1);
    const json = [first, ...rest].map((part) => part["chunk"]).join("");
    expect(JSON.parse(json)).toMatchObject({ type: "Transition" });
  });

  test("a client that is told nothing for 15 s gets a ping, and one that was told something does not", async () => {
    calls.mutation = async () => ({ ok: true, value: null, logs: [], ts: 100n });
    const client = await connect();
    // The connection's handler has run once a reply is here.
    now = 5_000;
    client.send(mutation(0));
    await client.nextOf("MutationResponse", 1);
    await client.nextOf("Transition", 1);
    now = PING_IDLE_MS;
    timers[0]!.run();
    expect(timers[1]!.ms).toBe(5_000);
    now += 5_000;
    timers[1]!.run();
    // The ping is the first thing to come, though the timer rang twice.
    expect(await client.next()).toEqual({ type: "Ping" });
    expect(timers[2]!.ms).toBe(PING_IDLE_MS);
  });
});

function answer(value: string | null, ts: Ts) {
  return { ok: true as const, value, logs: [], ts, reads: { intervals: 1 } as ReadSet };
}

function addQuery(baseVersion: number, newVersion: number): Message {
  const modifications = [{ type: "Add", queryId: 0, udfPath: "a:b", args: [{}] }];
  return { type: "ModifyQuerySet", baseVersion, newVersion, modifications };
}

function mutation(requestId: number, args: unknown = {}): Message {
  return { type: "Mutation", requestId, udfPath: "a:b", args: [args] };
}

/** A socket whose messages can be waited for, in order. */
class Client {
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

  /** The next so many of a type, leaving others out. */
  async nextOf(type: string, count: number): Promise<Message[]> {
    const messages: Message[] = [];
    while (messages.length < count) {
      messages.push(await this.until((message) => message.type === type));
    }
    return messages;
  }
}
