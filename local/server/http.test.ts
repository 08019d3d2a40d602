import { Agent, request as httpRequest } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PlatformError } from "../functions/errors.js";
import { createFetch, readBytes } from "./http.js";
import { MAX_BODY_BYTES } from "./limits.js";
import { createNodeServer } from "./nodeServer.js";

describe("the HTTP edge", () => {
  const crashes: unknown[] = [];
  const onCrash = (error: unknown) => void crashes.push(error);
  const answer = createFetch(
    {
      "POST /echo": ({ body }) => ({ body: body ?? null }),
      "POST /run/*": ({ rest }) => ({ rest }),
      "GET /text": () => "plain",
      "GET /busy": () => {
        throw new PlatformError(503, "TooBusy", "Come again.");
      },
      "GET /broken": () => {
        throw new TypeError("a fault of ours");
      },
      // Begins to answer before it has read: the request's body is the response's.
      "ANY /raw/*": {
        raw: (request, rest) =>
          new Response(request.body, {
            status: 202,
            headers: [
              ["X-Seen", `${request.method} ${rest}${new URL(request.url).search}`],
              ["Set-Cookie", "a=1"],
              ["Set-Cookie", "b=2"],
            ],
          }),
      },
      "POST /short": {
        raw: async (request) =>
          new Response((await readBytes(request, 3)) as Uint8Array<ArrayBuffer>),
      },
      "POST /deaf": { raw: () => new Response("no") },
      "GET /endless": {
        raw: () =>
          new Response(
            new ReadableStream({
              pull: (controller) => controller.enqueue(new Uint8Array(1000)),
              cancel: () => canceled(),
            }),
          ),
      },
    },
    onCrash,
  );
  let canceled: () => void = () => {};
  const server = createNodeServer(answer, onCrash);
  let url: string;

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  const post = (path: string, body: BodyInit, headers: Record<string, string> = {}) =>
    fetch(url + path, { method: "POST", body, headers });

  test("reads bodies as the CLI compresses them", async () => {
    const json = JSON.stringify({ a: "ü" });
    for (const [encoding, body] of [
      ["br", brotliCompressSync(json)],
      ["gzip", gzipSync(json)],
    ] as const) {
      const response = await post("/echo", new Uint8Array(body), { "Content-Encoding": encoding });
      expect(await response.json()).toEqual({ body: { a: "ü" } });
    }
  });

  test("names the error in a body that it cannot read", async () => {
    for (const [body, headers, complaint] of [
      ["{", {}, "not valid JSON"],
      ["{}", { "Content-Encoding": "br" }, "not valid br"],
      ["{}", { "Content-Encoding": "zip" }, "must be br or gzip"],
    ] as const) {
      const response = await post("/echo", body, headers);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        code: "BadRequest",
        message: expect.stringContaining(complaint) as unknown,
      });
    }
  });

  test("unpacks no more than a body may have: a few bytes could fill the memory", async () => {
    const bomb = gzipSync(Buffer.alloc(MAX_BODY_BYTES + 1), { level: 9 });
    expect(bomb.length).toBeLessThan(MAX_BODY_BYTES / 500);
    const response = await post("/echo", new Uint8Array(bomb), { "Content-Encoding": "gzip" });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: "BodyTooLarge" });
  });

  test("gives a platform error its status, code and message", async () => {
    const response = await fetch(`${url}/busy`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ code: "TooBusy", message: "Come again." });
  });

  test("is not to blame for a caller that leaves in the middle of a body", async () => {
    const { port } = server.address() as AddressInfo;
    const closed = new Promise((resolve) =>
      server.once("connection", (socket) => socket.once("close", resolve)),
    );
    const socket = connect(port, "127.0.0.1");
    socket.write("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
    await new Promise((resolve) => server.once("request", resolve));
    socket.destroy();
    await closed;
    expect(await (await post("/echo", "{}")).json()).toEqual({ body: {} });
    expect(crashes).toEqual([]);
  });

  test("reports a fault of its own, and goes on", async () => {
    const response = await fetch(`${url}/broken`);
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ code: "InternalServerError" });
    expect(crashes).toEqual([expect.any(TypeError)]);
    expect(await (await fetch(`${url}/text`)).text()).toBe("plain");
  });

  test("names paths that it does not serve, with a status that the CLI does not retry", async () => {
    const response = await fetch(`${url}/api/import`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: "UnsupportedByLocalBackend",
      message: expect.stringContaining("GET /api/import") as unknown,
    });
  });

  test("takes everything below a path that ends in a star", async () => {
    expect(await (await post("/run/a/b", "{}")).json()).toEqual({ rest: "a/b" });
  });

  test("lets pages of any origin call, with the headers they ask for", async () => {
    // Not by fetch, which keeps `Origin` for itself.
    const headers = await new Promise<Record<string, unknown>>((resolve, reject) => {
      const preflight = httpRequest(`${url}/echo`, {
        method: "OPTIONS",
        headers: {
          Origin: "http://localhost:5173",
          "Access-Control-Request-Headers": "convex-client",
        },
      });
      preflight.on("response", (response) => resolve(response.headers));
      preflight.on("error", reject);
      preflight.end();
    });
    expect(headers).toMatchObject({
      "access-control-allow-origin": "http://localhost:5173",
      "access-control-allow-headers": "convex-client",
    });
  });

  test("a raw route takes any method, and streams bodies both ways with its own status and headers", async () => {
    const part = "x".repeat(200_000);
    const response = await fetch(`${url}/raw/a/b?c=d`, {
      method: "PATCH",
      body: new Blob([part, part, part]),
    });
    expect(response.status).toBe(202);
    expect(response.headers.get("X-Seen")).toBe("PATCH a/b?c=d");
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect((await response.text()).length).toBe(3 * part.length);
    const preflight = await fetch(`${url}/raw/a`, { method: "OPTIONS" });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("a body that is refused or not read leaves the connection to the next request", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const big = Buffer.alloc(300_000);
    try {
      expect(await send("POST", "/short", big, agent)).toMatchObject({ status: 413 });
      expect(await send("POST", "/deaf", big, agent)).toMatchObject({ status: 200, text: "no" });
      expect(await send("GET", "/text", null, agent)).toMatchObject({ text: "plain" });
    } finally {
      agent.destroy();
    }
  });

  test("the code that streams an answer is notified when its reader goes", async () => {
    const stopped = new Promise<void>((resolve) => (canceled = resolve));
    const response = await fetch(`${url}/endless`);
    await response.body!.cancel();
    await stopped;
  });

  test("a method that no Request can have is the caller's mistake", async () => {
    expect(await send("TRACE", "/text", null)).toMatchObject({ status: 400 });
    expect(await send("GET", "//", null)).toMatchObject({ status: 400 });
  });

  function send(
    method: string,
    path: string,
    body: Buffer | null,
    agent?: Agent,
  ): Promise<{ status: number | undefined; text: string }> {
    return new Promise((resolve, reject) => {
      const { hostname: host, port } = new URL(url);
      const request = httpRequest({ host, port, path, method, ...(agent && { agent }) });
      request.on("response", (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => resolve({ status: response.statusCode, text }));
      });
      request.on("error", reject);
      request.end(body);
    });
  }
});
