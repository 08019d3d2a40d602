/** How connections are kept, and how they end: malformed messages, silence, other backends. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CLIENT_SILENCE_MS, PING_IDLE_MS, SOCKET_PING_MS } from "../limits.js";
import { addQuery, CONNECT, mutation, SyncStage } from "./stage.js";

describe("a connection", () => {
  let stage: SyncStage;
  beforeEach(async () => {
    stage = new SyncStage();
    await stage.open();
  });
  afterEach(() => stage.close());

  const TS_101 = "ZQAAAAAAAAA=";

  test("a binary frame ends the connection, and the client may come again", async () => {
    const client = await stage.connect();
    client.socket.send(Buffer.from("{}"), { binary: true });
    expect(await client.closed).toEqual({ code: 1011, reason: "InternalServerError" });
  });

  test("a mutation needs a session, or it could not be distinguished from its repetition", async () => {
    const client = await stage.socket();
    client.send(mutation(0));
    expect(await client.next()).toMatchObject({ error: "The first message must be Connect." });
  });

  test("a second Connect names the session anew", async () => {
    let named: string | undefined;
    stage.calls.mutation = async ({ session }) => {
      named = session?.sessionId;
      return { ok: true, value: null, logs: [], ts: 100n };
    };
    const client = await stage.connect();
    client.send({ ...CONNECT, sessionId: "other" });
    client.send(mutation(0));
    expect(await client.next()).toMatchObject({ type: "MutationResponse", success: true });
    expect(named).toBe("other");
  });

  test("a client that has seen the future of this backend is turned away, not answered with the past", async () => {
    const ahead = await stage.connect();
    ahead.send({ ...CONNECT, maxObservedTimestamp: TS_101 });
    expect(await ahead.closed).toEqual({ code: 1013, reason: "MaxObservedTimestampInFuture" });
  });

  test("a client without messages for 15 s gets a ping, and one with a message does not", async () => {
    stage.calls.mutation = async () => ({ ok: true, value: null, logs: [], ts: 100n });
    const client = await stage.connect();
    // The connection's handler has run once a reply is here.
    stage.now = 5_000;
    client.send(mutation(0));
    await client.nextOf("MutationResponse", 1);
    await client.nextOf("Transition", 1);
    stage.now = PING_IDLE_MS;
    stage.ring(PING_IDLE_MS);
    expect(stage.timers.at(-1)!.ms).toBe(5_000);
    stage.now += 5_000;
    stage.ring(5_000);
    // The ping is the first thing to come, though the timer rang twice.
    expect(await client.next()).toEqual({ type: "Ping" });
    expect(stage.timers.at(-1)!.ms).toBe(PING_IDLE_MS);
  });

  test("a socket is asked every 5 s whether its client is there, and cut after 120 s of silence", async () => {
    const client = await stage.connect();
    await client.heard();
    const pings: unknown[] = [];
    client.socket.on("ping", () => pings.push(stage.now));
    stage.now = 5_000;
    stage.ring(SOCKET_PING_MS);
    await client.heard();
    expect(pings).toEqual([5_000]);
    // Its pong has arrived.
    stage.now = 5_000 + CLIENT_SILENCE_MS;
    stage.ring(SOCKET_PING_MS);
    await client.heard();
    expect(pings).toHaveLength(2);
    client.socket.pause();
    stage.now += CLIENT_SILENCE_MS + 1;
    stage.ring(SOCKET_PING_MS);
    client.socket.resume();
    expect((await client.closed).code).toBe(1006);
  });

  test("a change from another version than the server's is fatal: the client has lost count", async () => {
    for (const message of [
      addQuery(4, 5),
      addQuery(0, 0),
      { type: "Authenticate", tokenType: "None", baseVersion: 3 },
    ]) {
      const client = await stage.connect();
      client.send(message);
      expect(await client.next()).toMatchObject({ type: "FatalError" });
      expect((await client.closed).code).toBe(1005);
    }
  });

  test.each([
    ["hello?"],
    ["null"],
    ["[]"],
    [{ type: "Hello" }],
    [{ type: "Connect", connectionCount: 0 }],
    [{ ...CONNECT, maxObservedTimestamp: "never" }],
    [{ type: "Authenticate", tokenType: "Guest", baseVersion: 0 }],
    [{ type: "Authenticate", tokenType: "User", baseVersion: 0 }],
    [{ type: "ModifyQuerySet", baseVersion: 0, newVersion: 1 }],
    [
      {
        type: "ModifyQuerySet",
        baseVersion: 0,
        newVersion: 1,
        modifications: [{ type: "Swap", queryId: 0 }],
      },
    ],
    [
      {
        type: "ModifyQuerySet",
        baseVersion: 0,
        newVersion: 1,
        modifications: [{ type: "Remove", queryId: 7 }],
      },
    ],
    [{ type: "Mutation", requestId: -1, udfPath: "a:b", args: [{}] }],
    [{ type: "Mutation", requestId: 0, udfPath: 5, args: [{}] }],
    [{ type: "Action", requestId: 0, udfPath: "a:b", args: {} }],
    [{ type: "Event" }],
  ])(
    "a malformed message is a FatalError that names the error, and no fault of the backend: %j",
    async (message) => {
      const client = await stage.connect();
      client.socket.send(typeof message === "string" ? message : JSON.stringify(message));
      const [fatal] = await client.nextOf("FatalError", 1);
      expect(fatal!["error"]).not.toMatch(/local backend failed|undefined is not|Cannot read/);
      expect((await client.closed).code).toBe(1005);
    },
  );
});
