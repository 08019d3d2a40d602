/** The HTTP API as callers in other languages see it, without a Convex client. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBackend, type Backend } from "../backend.js";
import { pushFixture } from "../push/testing.js";
import { encodeTs } from "./timestamps.js";

describe("the HTTP API", () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await startBackend({ quiet: true });
    await pushFixture(backend);
  });
  afterAll(() => backend.close());

  async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(backend.url + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  test("answers in plain JSON unless the clients' encoding is asked for", async () => {
    const message = { author: "plain", body: "b", size: { $integer: "KgAAAAAAAAA=" } };
    const sent = await post("/api/mutation", { path: "messages:send", args: message });
    expect(sent).toMatchObject({ status: 200, body: { status: "success" } });
    const query = { path: "messages:list", args: { author: "plain" } };
    expect((await post("/api/query", query)).body["value"]).toMatchObject([{ size: "42" }]);
    const encoded = { ...query, format: "convex_encoded_json" };
    expect((await post("/api/query", encoded)).body["value"]).toMatchObject([
      { size: message.size },
    ]);
  });

  test("runs any function by its path, and gives its log lines with the result", async () => {
    const sent = await post("/api/run/messages/send", { args: { author: "run", body: "b" } });
    expect(sent.body["logLines"]).toEqual(["[LOG] 'sending as' 'run'"]);
    const listed = await post("/api/run/messages/list", { args: { author: "run" } });
    expect(listed.body["value"]).toHaveLength(1);
  });

  test("reads with GET, and many queries in one request", async () => {
    const response = await fetch(`${backend.url}/api/query?path=messages:greet&args={}`);
    expect(await response.json()).toMatchObject({ status: "success", value: "hello" });
    const query = { path: "messages:greet", args: [{}] };
    const batch = await post("/api/query_batch", { queries: [query, query] });
    expect(batch.body["results"]).toHaveLength(2);
  });

  test("an app's failure is an answer with status 200, its data beside its message", async () => {
    const failed = await post("/api/mutation", {
      path: "messages:rename",
      args: { from: "nobody", to: "x" },
    });
    expect(failed).toMatchObject({
      status: 200,
      body: {
        status: "error",
        errorMessage: expect.stringMatching(/^\[Request ID: [0-9a-f]+\] Server Error\n/) as unknown,
        errorData: { code: "unknownAuthor", author: "nobody" },
      },
    });
  });

  test("components' functions are for the admin, with a valid key", async () => {
    const call = { path: "lib:bump", args: { name: "n" }, componentPath: "visits" };
    expect(await post("/api/function", call)).toMatchObject({
      status: 403,
      body: { code: "ComponentPathNotAllowed" },
    });
    expect(await post("/api/function", call, { Authorization: "Convex nonsense" })).toMatchObject({
      status: 401,
      body: { code: "BadAdminKey" },
    });
    expect(
      await post("/api/function", call, { Authorization: `Convex ${backend.adminKey}` }),
    ).toMatchObject({ status: 200, body: { value: 1 } });
  });

  test("query_at_ts reads the snapshot that query_ts named, after any later writes", async () => {
    const { ts } = (await post("/api/query_ts", {})).body;
    await post("/api/mutation", { path: "messages:send", args: { author: "ts", body: "b" } });
    const query = { path: "messages:list", args: { author: "ts" } };
    expect(await post("/api/query", query)).toMatchObject({ body: { value: [{ body: "b" }] } });
    expect(await post("/api/query_at_ts", { ...query, ts })).toMatchObject({ body: { value: [] } });
    for (const beyond of [0n, 2n ** 62n]) {
      expect(await post("/api/query_at_ts", { ...query, ts: encodeTs(beyond) })).toMatchObject({
        status: 503,
        body: { code: "OutOfRetention" },
      });
    }
  });

  test("a body that is not said to be JSON is not read", async () => {
    const call = { path: "messages:greet", args: {} };
    const as = (type: string) => post("/api/query", call, { "Content-Type": type });
    for (const type of ["application/json;charset=utf-8", "application/problem+json"]) {
      expect(await as(type)).toMatchObject({ status: 200, body: { value: "hello" } });
    }
    for (const type of ["text/plain", "application/jsonp", "application/x-www-form-urlencoded"]) {
      expect(await as(type)).toMatchObject({ status: 400, body: { code: "BadJsonBody" } });
    }
  });

  test.each([null, 5, { author: { $integer: "x" } }, { author: { $commitTs: null } }])(
    "arguments that are none are the function's error: %o",
    async (args) => {
      const told = await post("/api/query", { path: "messages:list", args });
      expect(told).toMatchObject({ status: 200, body: { status: "error" } });
      expect(told.body["errorMessage"]).toMatch(
        /ArgumentValidationError|Invalid arguments for messages:list/,
      );
    },
  );

  test.each([
    ["/api/run/%zz", {}],
    ["/api/query", null],
    ["/api/query", { path: 5 }],
    ["/api/query", { path: "messages:greet" }],
    ["/api/query", { path: "messages:greet", args: [] }],
    ["/api/query_batch", { queries: [null] }],
    ["/api/query_at_ts", { path: "messages:greet", ts: "never" }],
  ])("a caller's mistake is the caller's, with status 400: %s %o", async (path, body) => {
    expect(await post(path, body)).toMatchObject({ status: 400, body: { code: "BadRequest" } });
  });
});
