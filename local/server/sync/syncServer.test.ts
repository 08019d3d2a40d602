/** The sync protocol message by message, against functions that are made up here. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PlatformError } from "../../functions/errors.js";
import type { Call } from "../calls.js";
import { TRANSITION_CHUNK_BYTES } from "../limits.js";
import { addQuery, answer, mutation, SyncStage } from "./stage.js";

describe("the sync protocol", () => {
  let stage: SyncStage;
  beforeEach(async () => {
    stage = new SyncStage();
    await stage.open();
  });
  afterEach(() => stage.close());

  const version = (querySet: number, identity: number, ts: string) => ({ querySet, identity, ts });
  const TS_0 = "AAAAAAAAAAA=";
  const TS_100 = "ZAAAAAAAAAA=";
  const TS_101 = "ZQAAAAAAAAA=";

  test("each transition begins where the last one ended", async () => {
    stage.calls.query = async () => answer("first", 100n);
    const client = await stage.connect();
    client.send(addQuery(0, 1));
    expect(await client.next()).toEqual({
      type: "Transition",
      clientClockSkew: 5,
      serverTs: 0,
      startVersion: version(0, 0, TS_0),
      endVersion: version(1, 0, TS_100),
      modifications: [
        { type: "QueryUpdated", queryId: 0, value: "first", logLines: [], journal: null },
      ],
    });
    stage.calls.query = async () => answer("second", 101n);
    stage.latestTs = 101n;
    stage.publish({ ts: 101n, touches: () => true });
    expect(await client.next()).toMatchObject({
      startVersion: version(1, 0, TS_100),
      endVersion: version(1, 0, TS_101),
      modifications: [{ value: "second" }],
    });
  });

  test("a mutation's response comes before the transition that shows its effect", async () => {
    stage.calls.mutation = async () => {
      stage.latestTs = 101n;
      return { ok: true, value: 7, logs: ["[LOG] 'x'"], ts: 101n };
    };
    const client = await stage.connect();
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
    stage.calls.mutation = async ({ args }: Call) => {
      begun.push(args);
      expect(++running).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return { ok: true, value: null, logs: [], ts: 100n };
    };
    const client = await stage.connect();
    for (const requestId of [0, 1, 2]) client.send(mutation(requestId, { n: requestId }));
    await client.nextOf("MutationResponse", 3);
    expect(begun).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
  });

  test("a refusal of the platform ends the socket with 1013 and its code: the client tries again", async () => {
    stage.calls.mutation = async () => {
      throw new PlatformError(503, "OptimisticConcurrencyControlFailure", "😀".repeat(100));
    };
    const client = await stage.connect();
    client.send(mutation(0));
    const { code, reason } = await client.closed;
    expect(code).toBe(1013);
    expect(reason).toBe("OptimisticConcurrencyControlFailure");
  });

  test("an action's failure carries its data", async () => {
    stage.calls.action = async () => ({ ok: false, message: "no", data: { code: 1 }, logs: [] });
    const client = await stage.connect();
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

  test("a result over 5 MB comes in parts", async () => {
    stage.calls.query = async () => answer("x".repeat(TRANSITION_CHUNK_BYTES + 1), 100n);
    const client = await stage.connect();
    client.send(addQuery(0, 1));
    const first = await client.next();
    expect(first).toMatchObject({ type: "TransitionChunk", partNumber: 0 });
    const rest = await client.nextOf("TransitionChunk", (first["totalParts"] as number) - 1);
    const json = [first, ...rest].map((part) => part["chunk"]).join("");
    expect(JSON.parse(json)).toMatchObject({ type: "Transition" });
  });
});
