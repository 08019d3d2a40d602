/**
 * Messages between the page, the program that serves it and a deployment, over real sockets; against a real one, see
 * the end-to-end tests.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { relayed, type Target } from "./relay.js";
import { serve, type Served } from "./serve.js";

const KEY = "happy-animal-123|0123456789abcdef";
const identity = { issuer: "https://example.com", subject: "ann" };
const credential = { adminKey: KEY, identity };
const SYNC = "deployment/api/1.48.0/sync";
const AUTHENTICATE = { type: "Authenticate", tokenType: "Admin", value: "none", baseVersion: 0 };

let folder: string;
let served: Served;
let deployment: WebSocketServer;
/** The messages that reached the deployment, and all bytes that reached the browser. */
let sent: unknown[];
let bytes: Buffer[];

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "page-"));
  writeFileSync(path.join(folder, "index.html"), "<title>Queues</title>");
  [sent, bytes] = [[], []];
  deployment = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  deployment.on("connection", (socket, request) => {
    sent.push(request.url);
    socket.on("message", (data) => {
      sent.push(JSON.parse((data as Buffer).toString()));
      socket.send(JSON.stringify({ type: "Ping" }));
    });
  });
  await new Promise((resolve) => deployment.once("listening", resolve));
  const { port } = deployment.address() as AddressInfo;
  const target = { url: `http://127.0.0.1:${port}`, module: "dashboard", ...credential };
  served = await serve(target, { port: 0, folder });
});

afterEach(async () => {
  await served.close();
  for (const socket of deployment.clients) socket.terminate();
  deployment.close();
  rmSync(folder, { recursive: true });
});

/** A connection of which each byte that comes is kept. */
function tapped(): Socket {
  const socket = connect(Number(new URL(served.url).port), "127.0.0.1");
  socket.on("data", (data) => bytes.push(data));
  return socket;
}

/** The WebSocket of a page of the program, or of another's. */
function open(at = SYNC, { host, origin }: { host?: string; origin?: string | null } = {}) {
  const url = new URL(at, served.url);
  return new WebSocket(url.href.replace(/^http/, "ws"), {
    ...(origin === null ? {} : { origin: origin ?? url.origin }),
    ...{ headers: { host: host ?? url.host }, perMessageDeflate: false, createConnection: tapped },
  });
}

const opened = (socket: WebSocket) =>
  new Promise<string>((resolve) => {
    socket.once("open", () => resolve("open"));
    socket.once("error", ({ message }) => resolve(message));
  });
const answered = (socket: WebSocket) => new Promise((resolve) => socket.once("message", resolve));
const closed = (socket: WebSocket) =>
  new Promise<number>((resolve) => socket.once("close", (code) => resolve(code)));

async function page(file: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const options = { createConnection: tapped, headers: { host: new URL(served.url).host } };
    get(new URL(file, served.url), options, (response) => {
      response.resume().on("end", resolve);
    }).on("error", reject);
  });
}

test("the key is put in where the page signs in, and is in no byte that the browser is sent", async () => {
  await page("");
  await page("config.json");
  const socket = open();
  expect(await opened(socket)).toBe("open");
  const call = { type: "ModifyQuerySet", baseVersion: 0, newVersion: 1 };
  const modifications = [{ type: "Add", queryId: 0, udfPath: "dashboard:overview", args: [{}] }];
  for (const message of [AUTHENTICATE, { ...call, modifications }]) {
    const answer = answered(socket);
    socket.send(JSON.stringify(message));
    await answer;
  }
  expect(sent).toEqual([
    "/api/1.48.0/sync",
    { ...AUTHENTICATE, value: KEY, impersonating: identity },
    { ...call, modifications },
  ]);
  const seen = Buffer.concat(bytes).toString("latin1");
  expect(seen).toContain('{"type":"Ping"}');
  expect(seen).toContain('"signsIn":true');
  expect(seen).not.toContain("0123456789abcdef");
  expect(seen).not.toContain("ann");
});

test.each([
  ["another site's page", SYNC, { origin: "https://example.com" }, "403"],
  ["a page that does not say where it is from", SYNC, { origin: null }, "403"],
  ["another name for this address", SYNC, { host: "example.com" }, "403"],
  ["another path of the deployment", "deployment/api/query", {}, "404"],
  ["the deployment without the address that is printed", `/${SYNC}`, {}, "404"],
])("a WebSocket of %s is refused", async (_, at, headers, status) => {
  expect(await opened(open(at, headers))).toContain(status);
  expect(sent).toEqual([]);
});

test("where the deployment does not answer, the page is refused, and tries again", async () => {
  deployment.close();
  expect(await opened(open())).toContain("502");
});

test("each end that goes takes the other along", async () => {
  const first = open();
  await opened(first);
  const [upstream] = deployment.clients;
  const ended = closed(upstream!);
  first.close();
  await ended;

  const second = open();
  await opened(second);
  const over = closed(second);
  for (const socket of deployment.clients) socket.close(1012, "restarts");
  expect(await over).toBe(1012);

  const third = open();
  await opened(third);
  const cut = closed(third);
  for (const socket of deployment.clients) socket.terminate();
  expect(await cut).toBe(1001);
});

const target: Target = { url: "http://127.0.0.1:1", module: "dashboard", ...credential };
const pass = (message: unknown, given = target) =>
  relayed(given, Buffer.from(typeof message === "string" ? message : JSON.stringify(message)));
const adds = (...modifications: unknown[]) => ({ type: "ModifyQuerySet", modifications });

test.each([
  { type: "Mutation", udfPath: "_system/cli/setEnvironmentVariables:default" },
  { type: "Mutation", udfPath: "dashboard:cancel", componentPath: "conveyor" },
  { type: "Action", udfPath: "dashboards:steal" },
  { type: "Mutation" },
  adds({ type: "Add", udfPath: "_system/frontend/tables:default" }),
  adds({ type: "Remove" }, { type: "Add", udfPath: "dashboard:x", componentPath: "" }),
  adds(null),
  { type: "ModifyQuerySet" },
  { type: "AdminMutation", udfPath: "dashboard:overview" },
  "null",
  "[]",
  "{",
])("with the credential nothing but the dashboard's functions is called: %j", (message) => {
  expect(pass(message)).toBeNull();
});

test.each([
  { type: "Connect", sessionId: "a", connectionCount: 0 },
  { type: "Event", eventType: "ClientConnect", event: {} },
  { type: "Mutation", requestId: 1, udfPath: "dashboard:cancel", args: [{}] },
  adds({ type: "Add", udfPath: "dashboard:overview" }, { type: "Remove", queryId: 3 }),
])("this message of the page's client passes unchanged: %j", (message) => {
  expect(JSON.parse(pass(message)!)).toEqual(message);
});

test("of two fields of one name, the checked one is sent", () => {
  const twice = '{"type":"Mutation","udfPath":"_system/x:y","udfPath":"dashboard:cancel"}';
  expect(pass(twice)).toBe('{"type":"Mutation","udfPath":"dashboard:cancel"}');
});

test("a token signs in as its user; without a credential nothing that the page sends does", () => {
  const { url, module } = target;
  const signed = (given: Target) => JSON.parse(pass(AUTHENTICATE, given)!) as unknown;
  const asked = { type: "Authenticate", baseVersion: 0 };
  expect(signed({ url, module, token: "jwt" })).toEqual({
    ...{ ...asked, tokenType: "User", value: "jwt" },
  });
  expect(signed({ url, module })).toEqual({ ...asked, tokenType: "None" });
});
