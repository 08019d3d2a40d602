/** §6.2 and §6.4: the HTTP API, its errors, and its two formats. */
import { ConvexHttpClient } from "convex/browser";
import { ConvexError } from "convex/values";
import { expect } from "vitest";
import { api } from "../app/convex/_generated/api.js";
import { newGroup, NO_WIRE, type Case } from "../case.js";
import type { Server } from "../target.js";
import { post, type Reply } from "../wire.js";

const run = (server: Server, kind: string, path: string, args: unknown = {}, more: object = {}) =>
  post(server, `/api/${kind}`, { body: { path, args, ...more } });

function asks(
  id: string,
  says: string,
  ask: (server: Server) => Promise<void>,
  more: Partial<Case> = {},
): Case {
  return { id, says, convexTest: NO_WIRE, run: (target) => ask(target.server()), ...more };
}

const body = (reply: Reply) => reply.body as Record<string, any>;

export const http: Case[] = [
  asks("6.4.query", "POST /api/query answers with the value and the log lines", async (server) => {
    const reply = await run(server, "query", "runtime:default");
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ status: "success", value: "the module's default" });
  }),
  asks("6.4.query-get", "GET /api/query takes path and args in the address", async (server) => {
    const args = encodeURIComponent(JSON.stringify({ value: [1, "x"] }));
    const reply = await post(server, `/api/query?path=values:echo&args=${args}&format=json`, {
      method: "GET",
    });
    expect(reply.body).toMatchObject({ status: "success", value: [1, "x"] });
  }),
  asks("6.4.mutation", "POST /api/mutation runs a mutation", async (server) => {
    const group = newGroup();
    const reply = await run(server, "mutation", "rows:seed", { group, ns: [1, 2] });
    expect(reply.body).toMatchObject({ status: "success" });
    expect(body(reply)["value"]).toHaveLength(2);
  }),
  asks("6.4.action", "POST /api/action runs an action", async (server) => {
    const reply = await run(server, "action", "calls:actionCallsAction", { group: "g" });
    expect(reply.body).toMatchObject({ status: "success", value: "inner g" });
  }),
  asks("6.4.args-array", "arguments may be an object or an array of one", async (server) => {
    const reply = await run(server, "query", "values:echo", [{ value: 5 }]);
    expect(reply.body).toMatchObject({ value: 5 });
  }),
  asks("6.4.wrong-kind", "a query is no mutation, and a mutation no query", async (server) => {
    expect(body(await run(server, "mutation", "runtime:default"))["status"]).not.toBe("success");
    expect(
      body(await run(server, "query", "rows:seed", { group: "g", ns: [] }))["status"],
    ).not.toBe("success");
  }),
  asks(
    "6.4.missing",
    "a function that does not exist is an error of the app, with status 200",
    async (server) => {
      const reply = await run(server, "query", "no:such");
      expect(reply.status).toBe(200);
      expect(reply.body).toMatchObject({
        status: "error",
        errorMessage: expect.stringContaining(
          "Could not find public function for 'no:such'",
        ) as unknown,
      });
    },
  ),
  asks("6.4.internal-hidden", "an internal one is not found by a client", async (server) => {
    const reply = await run(server, "query", "runtime:hidden");
    expect(reply.body).toMatchObject({
      status: "error",
      errorMessage: expect.stringContaining(
        "Could not find public function for 'runtime:hidden'",
      ) as unknown,
    });
  }),
  asks(
    "6.4.argument-error",
    "arguments that do not fit are an error of the app",
    async (server) => {
      const reply = await run(server, "query", "values:typedArgs", { n: "1" });
      expect(reply.status).toBe(200);
      expect(body(reply)["errorMessage"]).toContain("ArgumentValidationError");
    },
  ),
  asks(
    "6.2.error-message",
    "an error's message has the request's id and the words of the app",
    async (server) => {
      const reply = await run(server, "mutation", "calls:fail", {
        group: newGroup(),
        how: "error",
      });
      expect(body(reply)["errorMessage"]).toMatch(
        /^\[Request ID: [0-9a-f]+\] Server Error\nUncaught Error: told to fail\n\s+at /,
      );
      expect(reply.body).not.toHaveProperty("errorData");
    },
  ),
  asks("6.2.error-data", "a ConvexError comes with its data", async (server) => {
    const group = newGroup();
    const reply = await run(server, "mutation", "calls:fail", { group, how: "data" });
    expect(reply.body).toMatchObject({ status: "error", errorData: { code: "told", group } });
  }),
  asks("6.2.error-string", "a thrown value need not be an error", async (server) => {
    const reply = await run(server, "mutation", "calls:fail", { group: newGroup(), how: "string" });
    expect(body(reply)["errorMessage"]).toContain("a string");
  }),
  asks(
    "6.2.client-error",
    "the official client throws a ConvexError with the data",
    async (server) => {
      const group = newGroup();
      const client = new ConvexHttpClient(server.url, { logger: false });
      const error: unknown = await client
        .mutation(api.calls.fail, { group, how: "data" })
        .catch((e: unknown) => e);
      expect(error).toBeInstanceOf(ConvexError);
      expect((error as ConvexError<Record<string, string>>).data).toEqual({ code: "told", group });
    },
  ),
  asks(
    "6.2.log-lines",
    "log lines come with their level, and values as they print",
    async (server) => {
      const reply = await run(server, "mutation", "runtime:logs");
      const lines = body(reply)["logLines"] as string[];
      expect(lines).toHaveLength(3);
      expect(lines[0]).toContain("[LOG] 'text' 1 {");
      expect(lines[1]).toBe("[WARN] 'careful'");
      expect(lines[2]).toBe("[ERROR] 'wrong'");
    },
  ),
  asks("6.2.logs-of-failure", "a failed call has its log lines too", async (server) => {
    const reply = await run(server, "mutation", "calls:fail", { group: newGroup(), how: "error" });
    expect(body(reply)["logLines"]).toEqual(["[LOG] 'before it fails'"]);
  }),
  asks("6.3.encoded", "convex_encoded_json loses nothing", async (server) => {
    const value = {
      big: { $integer: "BQAAAAAAAAA=" },
      bytes: { $bytes: "AAE=" },
      nan: { $float: "AAAAAAAA+H8=" },
    };
    const reply = await run(
      server,
      "query",
      "values:echo",
      { value },
      { format: "convex_encoded_json" },
    );
    expect(body(reply)["value"]).toEqual(value);
  }),
  asks("6.3.minus-zero", "-0 goes as a float of its own", async (server) => {
    const value = { $float: "AAAAAAAAAIA=" };
    const reply = await run(
      server,
      "query",
      "values:echo",
      { value },
      { format: "convex_encoded_json" },
    );
    expect(body(reply)["value"]).toEqual(value);
  }),
  asks("6.3.plain", "json is for people: integers are strings", async (server) => {
    const value = { big: { $integer: "BQAAAAAAAAA=" }, text: "x" };
    const reply = await run(server, "query", "values:echo", { value }, { format: "json" });
    expect(body(reply)["value"]).toEqual({ big: "5", text: "x" });
  }),
  asks(
    "6.4.run",
    "POST /api/run/module/function names the function in the address",
    async (server) => {
      const reply = await post(server, "/api/run/values/echo", { body: { args: { value: 3 } } });
      expect(reply.body).toMatchObject({ status: "success", value: 3 });
    },
  ),
  asks(
    "6.4.function",
    "POST /api/function runs a function of any kind by its path",
    async (server) => {
      expect((await run(server, "function", "runtime:default")).body).toMatchObject({
        status: "success",
      });
      expect(
        (await run(server, "function", "calls:actionCallsAction", { group: "f" })).body,
      ).toMatchObject({ value: "inner f" });
    },
  ),
  asks(
    "6.4.query-ts",
    "a timestamp from query_ts may be asked at by query_at_ts",
    async (server) => {
      const group = newGroup();
      const args = { group, ids: [], steps: [{ op: "read" }] };
      // Snapshots are kept for seconds: on a machine that is slower than that, again.
      for (let tries = 0; tries < 6; tries++) {
        const { ts } = body(await post(server, "/api/query_ts", { body: {} })) as { ts: string };
        expect(Buffer.from(ts, "base64")).toHaveLength(8);
        const ns = [tries];
        expect(body(await run(server, "mutation", "rows:seed", { group, ns }))).toMatchObject({
          status: "success",
        });
        const then = await run(server, "query_at_ts", "rows:look", args, { ts });
        if (then.status !== 200) continue;
        const before = Array.from({ length: tries }, (_, n) => n);
        expect(then.body).toMatchObject({ status: "success", value: [before] });
        return;
      }
      throw new Error("It was never answered in time.");
    },
  ),
  asks("6.4.query-batch", "query_batch answers several queries at once", async (server) => {
    const queries = [1, 2].map((value) => ({ path: "values:echo", args: { value } }));
    const reply = await post(server, "/api/query_batch", { body: { queries } });
    expect(body(reply)["results"]).toMatchObject([
      { status: "success", value: 1 },
      { status: "success", value: 2 },
    ]);
  }),
  asks("6.4.version", "GET /version, /instance_name and / are text", async (server) => {
    for (const path of ["/version", "/instance_name", "/"]) {
      const reply = await post(server, path, { method: "GET" });
      expect(reply.status).toBe(200);
      expect(typeof reply.body).toBe("string");
    }
  }),
  asks(
    "6.4.bad-body",
    "a body that is no JSON is refused with a status of its own",
    async (server) => {
      const reply = await post(server, "/api/query", { body: "{" });
      expect(reply.status).toBeGreaterThanOrEqual(400);
      expect(reply.status).toBeLessThan(500);
    },
  ),
  asks("6.4.json-type", "nor is a body read that is not said to be JSON", async (server) => {
    const body = { path: "values:echo", args: { value: 1 } };
    expect((await post(server, "/api/query", { body })).status).toBe(200);
    const reply = await post(server, "/api/query", { body, type: "text/plain" });
    expect(reply).toMatchObject({ status: 400, body: { code: "BadJsonBody" } });
  }),
  asks(
    "6.4.args-required",
    "a call names its arguments, also where it has none",
    async (server) => {
      const path = "runtime:default";
      expect((await post(server, "/api/query", { body: { path, args: {} } })).status).toBe(200);
      expect((await post(server, "/api/query", { body: { path } })).status).toBe(400);
    },
  ),
  asks(
    "6.4.args-object",
    "arguments that are no object are an error of the app",
    async (server) => {
      for (const args of [null, 5, { value: { $commitTs: null } }, { value: { $integer: 5 } }]) {
        const reply = await run(server, "query", "values:echo", args);
        expect(reply).toMatchObject({ status: 200, body: { status: "error" } });
      }
    },
  ),
  asks("6.4.bad-admin-key", "a wrong admin key is refused", async (server) => {
    const reply = await post(server, "/api/query", {
      body: { path: "runtime:default", args: {} },
      authorization: "Convex wrong|key",
    });
    expect([401, 403]).toContain(reply.status);
  }),
  asks("6.4.bad-token", "a token that is not valid is refused", async (server) => {
    const reply = await post(server, "/api/query", {
      body: { path: "runtime:default", args: {} },
      authorization: "Bearer a.b.c",
    });
    expect([401, 403]).toContain(reply.status);
  }),
  asks("6.4.cors", "any page may call: the answer allows its origin", async (server) => {
    const reply = await fetch(`${server.url}/api/query`, {
      method: "OPTIONS",
      headers: {
        Origin: "http://page.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
      },
    });
    expect(reply.ok).toBe(true);
    expect(["*", "http://page.example"]).toContain(
      reply.headers.get("access-control-allow-origin"),
    );
  }),
  asks(
    "6.4.serial-client",
    "the official HTTP client sends its mutations one after the other",
    async (server) => {
      const group = newGroup();
      const client = new ConvexHttpClient(server.url, { logger: false });
      await Promise.all(
        [1, 2, 3, 4].map((n) => client.mutation(api.stamps.add, { group, ns: [n] })),
      );
      expect((await client.query(api.stamps.list, { group })).map(({ n }) => n)).toEqual([
        1, 2, 3, 4,
      ]);
    },
  ),
  asks(
    "6.4.no-idempotency",
    "a mutation that is sent twice over HTTP is applied twice",
    async (server) => {
      const group = newGroup();
      for (let i = 0; i < 2; i++) await run(server, "mutation", "rows:seed", { group, ns: [1] });
      const reply = await run(server, "query", "rows:look", {
        group,
        ids: [],
        steps: [{ op: "read" }],
      });
      expect(body(reply)["value"]).toEqual([[1, 1]]);
    },
  ),
];
