/** The official clients, unmodified, against the local backend with the fixture app pushed to it. */
import { ConvexClient, ConvexHttpClient } from "convex/browser";
import { ConvexReactClient } from "convex/react";
import { ConvexError, type Value } from "convex/values";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { startBackend, type Backend } from "../backend.js";
import type { Completion } from "../functions/types.js";
import { api, internal } from "../push/fixtures/app/convex/_generated/api.js";
import { pushFixture } from "../push/testing.js";

const options = {
  webSocketConstructor: WebSocket as unknown as typeof globalThis.WebSocket,
  unsavedChangesWarning: false,
  logger: false,
};

describe("official clients", () => {
  let backend: Backend;
  const open: { close(): Promise<void> }[] = [];
  let completions: Completion[] = [];

  beforeAll(async () => {
    backend = await startBackend({ quiet: true });
    await pushFixture(backend);
    backend.runner.onCompletion((completion) => completions.push(completion));
  });
  afterAll(() => backend.close());

  beforeEach(() => {
    completions = [];
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((client) => client.close()));
  });

  function connect(): ConvexClient {
    const client = new ConvexClient(backend.url, options);
    open.push(client);
    return client;
  }

  /** Runs of a function that were not answered from the cache. */
  const executions = (path: string): number =>
    completions.filter(({ address, cached }) => address.path === path && !cached).length;

  test("a subscription shows another client's writes", async () => {
    const [reader, writer] = [connect(), connect()];
    const seen = watch<{ body: string }[]>((onResult) =>
      reader.onUpdate(api.messages.list, { author: "two" }, onResult),
    );
    await seen.until((messages) => messages.length === 0);
    await writer.mutation(api.messages.send, { author: "two", body: "over there" });
    await seen.until((messages) => messages[0]?.body === "over there");
  });

  test("a function's log lines arrive in the client that called it", async () => {
    const lines: string[] = [];
    const hear = (...args: unknown[]) => void lines.push(args.join(" "));
    const logger = { log: hear, warn: hear, error: hear, logVerbose: () => {} };
    const client = new ConvexClient(backend.url, { ...options, logger });
    open.push(client);
    await client.mutation(api.messages.send, { author: "loud", body: "hello" });
    const logged = lines.filter((line) => line.includes("messages:send"));
    expect(logged).toHaveLength(1);
    expect(logged[0]).toMatch(/\[LOG\].*sending as.*loud/);
  });

  test("a subscription on three clients that a write invalidates is three calls, of which one reads", async () => {
    const author = "followed";
    const clients = [connect(), connect(), connect()];
    const seen = clients.map((client) =>
      watch<unknown[]>((onResult) => client.onUpdate(api.messages.list, { author }, onResult)),
    );
    await Promise.all(seen.map((one) => one.until((messages) => messages.length === 0)));
    backend.stats.reset();
    await connect().mutation(api.messages.send, { author, body: "all see it" });
    await Promise.all(seen.map((one) => one.until((messages) => messages.length === 1)));
    expect(backend.stats.snapshot().functions["messages:list"]).toMatchObject({
      calls: 3,
      billed: 3,
      cached: 2,
      io: { documentsRead: 1 },
    });
  });

  test("a subscription is computed anew only when its read set is written", async () => {
    const client = connect();
    const seen = watch<unknown[]>((onResult) =>
      client.onUpdate(api.messages.list, { author: "mine" }, onResult),
    );
    await seen.until((messages) => messages.length === 0);
    const before = executions("messages:list");
    for (let message = 0; message < 5; message++) {
      await client.mutation(api.messages.send, { author: "other", body: String(message) });
    }
    expect(executions("messages:list")).toBe(before);
    await client.mutation(api.messages.send, { author: "mine", body: "now" });
    await seen.until((messages) => messages.length === 1);
    expect(executions("messages:list")).toBe(before + 1);
  });

  test("a mutation resolves when its effect is visible to the client's own subscriptions", async () => {
    const client = connect();
    const seen = watch<unknown[]>((onResult) =>
      client.onUpdate(api.messages.list, { author: "own" }, onResult),
    );
    await seen.until((messages) => messages.length === 0);
    for (let count = 1; count <= 5; count++) {
      await client.mutation(api.messages.send, { author: "own", body: String(count) });
      expect(seen.last()).toHaveLength(count);
    }
  });

  test("an optimistic update gives way to the real rows, and nothing flickers in between", async () => {
    const client = connect();
    const args = { author: "eager" };
    const seen = watch<{ _id: string }[]>((onResult) =>
      client.onUpdate(api.messages.list, args, onResult),
    );
    await seen.until((messages) => messages.length === 0);
    await client.mutation(
      api.messages.send,
      { author: "eager", body: "soon" },
      {
        optimisticUpdate: (store) => {
          const placeholder = { _id: "not yet", _creationTime: 0, author: "eager", body: "soon" };
          store.setQuery(api.messages.list, args, [placeholder as never]);
        },
      },
    );
    const ids = seen.all().map((messages) => messages.map(({ _id }) => _id));
    expect(ids.slice(0, 2)).toEqual([[], ["not yet"]]);
    // After the placeholder there is a row in every state, in the end the real one.
    expect(ids.slice(1).every((state) => state.length === 1)).toBe(true);
    expect(ids.at(-1)![0]).toMatch(/^[a-z0-9]{31,37}$/);
  });

  test("a mutation that loses its reply with the connection is sent again and applied once", async () => {
    const client = connect();
    await client.query(api.messages.greet, {});
    let dropped = false;
    const stop = backend.runner.onCompletion(({ address }) => {
      if (address.path !== "messages:send" || dropped) return;
      dropped = true;
      backend.dropConnections();
    });
    await client.mutation(api.messages.send, { author: "once", body: "only" });
    stop();
    expect(dropped).toBe(true);
    expect(executions("messages:send")).toBe(1);
    expect(await client.query(api.messages.list, { author: "once" })).toHaveLength(1);
  });

  test("subscriptions come back by themselves after the connection was lost", async () => {
    const [reader, writer] = [connect(), new ConvexHttpClient(backend.url, { logger: false })];
    const seen = watch<unknown[]>((onResult) =>
      reader.onUpdate(api.messages.list, { author: "back" }, onResult),
    );
    await seen.until((messages) => messages.length === 0);
    backend.dropConnections();
    await writer.mutation(api.messages.send, { author: "back", body: "meanwhile" });
    await seen.until((messages) => messages.length === 1);
  });

  test("values that JSON cannot hold come back as they were, over the socket and over HTTP", async () => {
    const body = "ünïcode 😀 \u0000 \u2028";
    const size = -(2n ** 63n);
    const image = new Uint8Array([0, 1, 254, 255]).buffer;
    const socket = connect();
    const http = new ConvexHttpClient(backend.url, { logger: false });
    for (const [author, client] of [
      ["socket", socket],
      ["http", http],
    ] as const) {
      await client.mutation(api.messages.send, { author, body, size, image });
      for (const reader of [socket, http]) {
        const [message] = await reader.query(api.messages.list, { author });
        expect(message).toMatchObject({ body, size });
        expect([...new Uint8Array(message!.image!)]).toEqual([0, 1, 254, 255]);
      }
    }
  });

  test("a ConvexError's data reaches the caller, and its mutation's writes are gone", async () => {
    const data = { code: "unknownAuthor", author: "nobody" };
    const http = new ConvexHttpClient(backend.url, { logger: false });
    for (const client of [connect(), http]) {
      const error = await client
        .mutation(api.messages.rename, { from: "nobody", to: "somebody" })
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ConvexError);
      expect((error as ConvexError<Value>).data).toEqual(data);
    }
    expect(await http.query(api.messages.list, { author: "audit" })).toEqual([]);
  });

  test("arguments that fail their validator, and functions that are not public, are refused in words", async () => {
    for (const client of [connect(), new ConvexHttpClient(backend.url, { logger: false })]) {
      await expect(
        client.mutation(api.messages.send, { author: 7, body: "x" } as never),
      ).rejects.toThrow("ArgumentValidationError");
      const hidden = internal.messages.clear as unknown as typeof api.counts.bump;
      await expect(client.mutation(hidden, { name: "" })).rejects.toThrow(
        "Could not find public function for 'messages:clear'",
      );
    }
  });

  test("an action waits, writes and reads, and its caller gets its result", async () => {
    const args = { author: "actor", body: "later" };
    expect(await connect().action(api.messages.sendLater, args)).toBe(1);
    const http = new ConvexHttpClient(backend.url, { logger: false });
    expect(await http.action(api.messages.sendLater, args)).toBe(2);
  });

  test("mutations of many clients on one row are all applied, each once", async () => {
    const clients = [connect(), connect(), connect(), connect()];
    const bumps = clients.flatMap((client) =>
      Array.from({ length: 5 }, () => client.mutation(api.counts.bump, { name: "hot" })),
    );
    const values = await Promise.all(bumps);
    // Each bump is by 2, and each saw another value.
    expect(values.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => 2 * i + 2));
    expect(await clients[0]!.query(api.counts.both, { name: "hot" })).toEqual([40, 0]);
  });

  test("the React client's watches follow too", async () => {
    const client = new ConvexReactClient(backend.url, options);
    open.push(client);
    const list = client.watchQuery(api.messages.list, { author: "react" });
    const seen = watch<unknown[]>((onResult) =>
      list.onUpdate(() => onResult(list.localQueryResult() ?? [])),
    );
    await client.mutation(api.messages.send, { author: "react", body: "hello" });
    await seen.until((messages) => messages.length === 1);
    expect(await client.action(api.messages.sendLater, { author: "react", body: "b" })).toBe(2);
  });

  test("a token that is none is refused with an error that says so", async () => {
    const http = new ConvexHttpClient(backend.url, { logger: false, auth: "a.b.c" });
    await expect(http.query(api.messages.greet, {})).rejects.toThrow("Could not parse JWT payload");
  });
});

/** Collects the results of a subscription. */
function watch<Result>(subscribe: (onResult: (result: Result) => void) => unknown) {
  const results: Result[] = [];
  const waiting = new Set<() => void>();
  subscribe((result) => {
    results.push(result);
    for (const look of [...waiting]) look();
  });
  return {
    all: () => results,
    last: () => results.at(-1),
    /** Resolves when the latest result is as wanted, now or later. */
    until: (wanted: (result: Result) => boolean) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (results.length === 0 || !wanted(results.at(-1)!)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}
