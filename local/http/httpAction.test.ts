import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { wallEnvironment } from "../environment.js";
import { PRELUDE, startTestBackend, type TestBackend } from "../functions/testing.js";
import type { Completion } from "../functions/types.js";
import { createFetch, type Fetch } from "../server/http.js";
import { MAX_RESPONSE_BYTES } from "./limits.js";
import { httpActionRoutes, siteRoutes } from "./routes.js";

const HTTP = `${PRELUDE}
  const http = httpRouter();
  const route = (method, path, handler) => http.route({ method, path, handler: httpAction(handler) });

  route("GET", "/hello", async (ctx, request) =>
    new Response("hello " + new URL(request.url).searchParams.get("name"), {
      status: 201, headers: { "X-Answer": "42", "Set-Cookie": "a=1" },
    }));
  route("POST", "/echo", async (ctx, request) =>
    new Response(await request.arrayBuffer(), { headers: { "Content-Type": request.headers.get("content-type") } }));
  route("POST", "/upper", async (ctx, request) => {
    const upper = new TransformStream({ transform(chunk, controller) { controller.enqueue(chunk.map((byte) => byte - 32)); } });
    return new Response(request.body.pipeThrough(upper));
  });
  route("PUT", "/json", async (ctx, request) => Response.json({ got: await request.json() }, { status: 202 }));
  route("PATCH", "/json", async (ctx, request) => Response.json({ got: await request.text() }));
  route("DELETE", "/json", async () => new Response(null, { status: 204 }));
  route("OPTIONS", "/json", async () => new Response(null, { status: 204, headers: { "Access-Control-Allow-Origin": "https://mine" } }));
  route("GET", "/request", async (ctx, request) => Response.json({
    url: request.url, method: request.method, body: request.body === null,
    own: request.headers.get("x-own"), id: request.headers.has("convex-request-id"),
    isRequest: request instanceof Request, isError: await ctx.runQuery(api.lib.nothing).catch((e) => e instanceof Error),
  }));
  route("POST", "/rows", async (ctx, request) => {
    await ctx.runMutation(internal.lib.add, { text: await request.text() });
    await ctx.scheduler.runAfter(0, internal.lib.add, { text: "scheduled" });
    return Response.json({ rows: await ctx.runQuery(internal.lib.list), act: await ctx.runAction(internal.lib.act),
      identity: await ctx.auth.getUserIdentity(), env: process.env.SECRET });
  });
  route("GET", "/throws", async () => { throw new Error("broken") });
  route("GET", "/throwsData", async () => { throw new ConvexError({ why: "mine" }) });
  route("GET", "/nothing", async () => "a string");
  route("GET", "/breaks", async () => new Response(new ReadableStream({
    start(controller) { controller.enqueue(new Uint8Array([65])); },
    async pull() { await missing; },
  })));
  route("GET", "/large", async () => {
    let left = 21;
    return new Response(new ReadableStream({ pull(controller) {
      if (left-- === 0) controller.close(); else controller.enqueue(new Uint8Array(1024 * 1024));
    } }));
  });
  route("GET", "/ticks", async (ctx, request) => {
    const left = new Promise((resolve) => request.signal.addEventListener("abort", resolve));
    let n = 0;
    return new Response(new ReadableStream({
      async pull(controller) {
        if (n++ === 0) return controller.enqueue(new TextEncoder().encode("tick"));
        await left;
        await ctx.runMutation(internal.lib.add, { text: "client left" });
        controller.close();
      },
    }));
  });
  http.route({ method: "GET", pathPrefix: "/files/", handler: httpAction(async (ctx, request) => new Response("file " + new URL(request.url).pathname)) });
  export default http;
`;
const LIB = `${PRELUDE}
  export const add = internalMutation({ args: { text: v.string() }, handler: (ctx, { text }) => ctx.db.insert("rows", { text }) });
  export const list = internalQuery({ handler: async (ctx) => (await ctx.db.query("rows").collect()).map((row) => row.text) });
  export const act = internalAction({ handler: async () => "acted" });
`;
const CHILD_HTTP = `${PRELUDE}
  const http = httpRouter();
  http.route({ method: "GET", path: "/where", handler: httpAction(async (ctx, request) => {
    await ctx.runMutation(internal.lib.add, { text: "in the child" });
    return Response.json({ url: request.url, rows: await ctx.runQuery(internal.lib.list), env: process.env });
  }) });
  export default http;
`;

let backend: TestBackend;
let api: Fetch;
let site: Fetch;
const completions: Completion[] = [];

beforeAll(async () => {
  backend = await startTestBackend(
    {
      "": { "http.ts": HTTP, "lib.ts": LIB },
      child: { "http.ts": CHILD_HTTP, "lib.ts": LIB },
    },
    {
      env: { "": { SECRET: "app's" }, child: { CHILD: "own" } },
      http: { "": { mounts: [{ prefix: "/child/", child: "child" }] } },
    },
  );
  backend.runner.onCompletion((completion) => completions.push(completion));
  const options = {
    env: wallEnvironment,
    runner: backend.runner,
    identify: async () => ({ kind: "none" as const }),
  };
  const onCrash = (error: unknown) => {
    throw error;
  };
  api = createFetch(httpActionRoutes(options), onCrash);
  site = createFetch(
    siteRoutes(options, () => "1.2.3"),
    onCrash,
  );
});
afterAll(() => backend.stop());

/** Long enough for a slow machine. */
const SOON = { timeout: 20_000 };
const completed = (route: string) =>
  completions.find((completion) => completion.address.path === route);
const get = (path: string, init?: RequestInit) => site(new Request(`http://site${path}`, init));

describe("a handler answers", () => {
  test("with status, headers and body, on either way in", async () => {
    for (const response of [
      await get("/hello?name=Ada"),
      await api(new Request("http://api/http/hello?name=Ada")),
    ]) {
      expect(response.status).toBe(201);
      expect(response.headers.get("x-answer")).toBe("42");
      expect(response.headers.getSetCookie()).toEqual(["a=1"]);
      expect(await response.text()).toBe("hello Ada");
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  test("HEAD runs GET's handler and gives no body", async () => {
    const response = await get("/hello?name=Ada", { method: "HEAD" });
    expect(response.status).toBe(201);
    expect(response.headers.get("x-answer")).toBe("42");
    expect(await response.text()).toBe("");
  });

  test("bytes come through unchanged in both directions", async () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, n) => n % 256);
    const response = await get("/echo", {
      method: "POST",
      body: bytes,
      headers: { "Content-Type": "application/octet-stream" },
    });
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
  });

  test("the response streams while the request does", async () => {
    let more!: (text: string | null) => void;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        more = (text) =>
          text === null ? controller.close() : controller.enqueue(new TextEncoder().encode(text));
      },
    });
    const answer = get("/upper", { method: "POST", body, duplex: "half" } as RequestInit);
    const reader = (await answer).body!.getReader();
    const next = async () => new TextDecoder().decode((await reader.read()).value);
    more("abc");
    expect(await next()).toBe("ABC");
    more("def");
    expect(await next()).toBe("DEF");
    more(null);
    expect((await reader.read()).done).toBe(true);
  });

  test("every method that can be routed reaches its own handler", async () => {
    const put = await get("/json", { method: "PUT", body: JSON.stringify({ a: 1 }) });
    expect([put.status, await put.json()]).toEqual([202, { got: { a: 1 } }]);
    const patch = await get("/json", { method: "PATCH", body: "text" });
    expect(await patch.json()).toEqual({ got: "text" });
    expect((await get("/json", { method: "DELETE" })).status).toBe(204);
    const options = await get("/json", { method: "OPTIONS" });
    expect(options.headers.get("access-control-allow-origin")).toBe("https://mine");
  });

  test("it sees the URL as the client wrote it, headers, a request id, and objects that are its own", async () => {
    const headers = { "X-Own": "yes", "X-Forwarded-Proto": "https" };
    const response = await api(new Request("http://api:1/http/request?q=%20x", { headers }));
    expect(await response.json()).toEqual({
      url: "https://api:1/request?q=%20x",
      method: "GET",
      body: true,
      own: "yes",
      id: true,
      isRequest: true,
      isError: true,
    });
  });

  test("it runs queries, mutations and actions, schedules, and reads the environment", async () => {
    const response = await get("/rows", { method: "POST", body: "first" });
    expect(await response.json()).toMatchObject({
      rows: ["first"],
      act: "acted",
      identity: null,
      env: "app's",
    });
  });

  test("a prefix takes all paths below it", async () => {
    expect(await (await get("/files/a/b")).text()).toBe("file /files/a/b");
  });
});

describe("a component's router", () => {
  test("is served below its prefix, sees the whole URL, and its own rows and environment", async () => {
    const response = await get("/child/where");
    expect(await response.json()).toEqual({
      url: "http://site/child/where",
      rows: ["in the child"],
      env: { CHILD: "own" },
    });
  });
});

describe("errors", () => {
  test("a path without a route is the platform's 404", async () => {
    const response = await get("/nowhere");
    expect([response.status, await response.text()]).toEqual([404, "No matching routes found"]);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect((await get("/hello", { method: "POST" })).status).toBe(404);
  });

  test("a thrown error is a 500 that names it, with the data of a ConvexError", async () => {
    const response = await get("/throws");
    expect(response.status).toBe(500);
    const body = (await response.json()) as { code: string; trace: string };
    expect(body.code).toMatch(
      /^\[Request ID: [0-9a-f]{16}\] Server Error: Uncaught Error: broken$/,
    );
    expect(body.trace).toContain("http.ts");
    const data = (await (await get("/throwsData")).json()) as { data: unknown };
    expect(data.data).toEqual({ why: "mine" });
  });

  test("anything but a Response is refused", async () => {
    const body = (await (await get("/nothing")).json()) as { code: string };
    expect(body.code).toContain("HTTP actions must return a Response");
  });

  test("a body that fails breaks the response off", async () => {
    const response = await get("/breaks");
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow("missing is not defined");
    await expect
      .poll(() => completed("GET /breaks")?.error, SOON)
      .toContain("missing is not defined");
  });

  test("a response is cut off at 20 MiB, and the log says so", async () => {
    const response = await get("/large");
    expect((await response.arrayBuffer()).byteLength).toBe(MAX_RESPONSE_BYTES);
    await expect
      .poll(
        () =>
          completed("GET /large")
            ?.logs.map((line) => line.text)
            .join(),
        SOON,
      )
      .toContain("HttpResponseTooLarge: HTTP actions support responses up to 20 MiB");
  });

  test("a handler is notified that its client has left, and may still write that down", async () => {
    const gone = new AbortController();
    const response = await get("/ticks", { signal: gone.signal });
    await response.body!.getReader().read();
    gone.abort();
    await expect.poll(() => backend.query("lib:list"), SOON).toContain("client left");
    // The tests that follow count calls.
    await expect.poll(() => completed("GET /ticks"), SOON).toBeDefined();
  });

  test("TRACE is none of the methods", async () => {
    // `Request` itself refuses it, so this one is made up.
    const trace = new Proxy(new Request("http://site/hello"), {
      get: (target, name) =>
        name === "method" ? "PROPFIND" : (Reflect.get(target, name) as unknown),
    });
    expect((await site(trace)).status).toBe(405);
  });
});

test("an HTTP action is one function call, named by its route", async () => {
  completions.length = 0;
  await (await get("/files/x")).text();
  await expect.poll(() => completed("GET /files/*"), SOON).toBeDefined();
  expect(completions).toHaveLength(1);
  expect(completions[0]).toMatchObject({ udfType: "HttpAction", scheduled: false });
});

test("the site's port tells the version, and everything else is the app's", async () => {
  expect(await (await get("/version")).text()).toBe("1.2.3");
  expect((await get("/api/query")).status).toBe(404);
});

test("without http.ts there are no HTTP actions", async () => {
  const bare = await startTestBackend({ "": { "lib.ts": LIB } });
  const fetch = createFetch(
    httpActionRoutes({
      env: wallEnvironment,
      runner: bare.runner,
      identify: async () => ({ kind: "none" as const }),
    }),
    () => {},
  );
  const response = await fetch(new Request("http://x/http/hello"));
  expect([response.status, await response.text()]).toEqual([
    404,
    "This Convex deployment does not have HTTP actions enabled.",
  ]);
  await bare.stop();
  expect((await fetch(new Request("http://x/http/hello"))).status).toBe(503);
});
