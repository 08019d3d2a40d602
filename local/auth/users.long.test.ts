/**
 * Users from end to end: an app with two providers in its `auth.config.ts`, pushed by the official CLI; tokens of both,
 * carried by the official clients; and the user that each function then sees.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConvexClient, ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { startBackend, type Backend } from "../backend.js";
import type { Completion } from "../functions/types.js";
import { convex, copyFixture, PUSH, type FixtureApp } from "../push/testing.js";
import { createKey, type TestKey } from "./testing.js";

const CUSTOM_ISSUER = "https://custom.test";

const USERS = `
  import { v } from "convex/values";
  import { anyApi, type FunctionReference } from "convex/server";
  import { components, internal } from "./_generated/api";
  import { action, internalMutation, mutation, query } from "./_generated/server";
  const { users } = anyApi as any;

  const subject = async (ctx: any): Promise<string | null> => (await ctx.auth.getUserIdentity())?.subject ?? null;

  export const whole = query({ args: {}, handler: (ctx) => ctx.auth.getUserIdentity() });
  export const me = query({ args: {}, handler: subject });
  /** Does not read the caller's identity. */
  export const nobody = query({ args: {}, handler: async (ctx) => (await ctx.db.query("messages").collect()).length });
  export const note = mutation({
    args: { body: v.string() },
    handler: async (ctx, { body }) => void (await ctx.db.insert("messages", { author: String(await subject(ctx)), body })),
  });
  export const noted = query({
    args: { body: v.string() },
    handler: async (ctx, { body }) =>
      (await ctx.db.query("messages").collect()).filter((row) => row.body === body).map((row) => row.author),
  });
  export const noteLater = mutation({
    args: { body: v.string() },
    handler: async (ctx, { body }) => void (await ctx.scheduler.runAfter(0, users.note, { body })),
  });
  export const act = action({
    args: {},
    handler: async (ctx): Promise<any> => ({
      action: await subject(ctx),
      query: await ctx.runQuery(users.me),
      nested: await ctx.runAction(users.nested),
      component: await ctx.runQuery((components.counter as any).who.me),
    }),
  });
  export const nested = action({ args: {}, handler: subject });
  export const inComponent = query({ args: {}, handler: (ctx): Promise<any> => ctx.runQuery((components.counter as any).who.me) });
`;
const WHO = `
  import { query } from "./_generated/server";
  export const me = query({ args: {}, handler: async (ctx) => (await ctx.auth.getUserIdentity())?.subject ?? null });
`;
const HTTP = `
  import { httpRouter } from "convex/server";
  import { httpAction } from "./_generated/server";
  const http = httpRouter();
  http.route({
    path: "/me", method: "GET",
    handler: httpAction(async (ctx) => {
      const user = await ctx.auth.getUserIdentity().catch((error: Error) => ({ subject: error.message }));
      return new Response(user?.subject ?? "nobody");
    }),
  });
  http.route({ path: "/open", method: "GET", handler: httpAction(async (_, request) => new Response(request.headers.get("authorization"))) });
  export default http;
`;
const users = anyApi["users"] as Record<string, any>;

let backend: Backend;
let app: FixtureApp;
let oidc: Server;
let oidcIssuer: string;
let rsa: TestKey, ec: TestKey;
const completions: Completion[] = [];
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  [rsa, ec] = await Promise.all([createKey("RS256", "rsa"), createKey("ES256", "ec")]);
  oidc = createServer((request, response) => {
    const pages: Record<string, unknown> = {
      "/.well-known/openid-configuration": { issuer: oidcIssuer, jwks_uri: `${oidcIssuer}/keys` },
      "/keys": { keys: [rsa.publicJwk] },
    };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(pages[request.url ?? ""] ?? null));
  });
  await new Promise<void>((resolve) => oidc.listen(0, "127.0.0.1", resolve));
  oidcIssuer = `http://127.0.0.1:${(oidc.address() as AddressInfo).port}`;
  backend = await startBackend({ quiet: true });
  backend.runner.onCompletion((completion) => completions.push(completion));
  app = await copyFixture();
  const jwks = Buffer.from(JSON.stringify({ keys: [ec.publicJwk] })).toString("base64");
  await write(
    "convex/auth.config.ts",
    authConfig([
      { domain: oidcIssuer, applicationID: "app" },
      {
        type: "customJwt",
        issuer: CUSTOM_ISSUER,
        jwks: `data:application/json;base64,${jwks}`,
        algorithm: "ES256",
      },
    ]),
  );
  await write("convex/users.ts", USERS);
  await write("convex/http.ts", HTTP);
  await write("counter/who.ts", WHO);
  const push = await run(...PUSH, "--typecheck", "disable");
  if (push.code !== 0) throw new Error(push.stderr);
});
afterAll(async () => {
  await Promise.all(open.map((client) => client.close()));
  await backend.close();
  await app.remove();
  oidc.close();
});

const run = (...args: string[]) => convex(backend, app.directory, ...args);
const write = (file: string, text: string) => writeFile(join(app.directory, file), text);
const authConfig = (providers: unknown) =>
  `export default { providers: ${JSON.stringify(providers)} };`;

const seconds = () => Math.floor(Date.now() / 1000);
const claims = (iss: string, sub: string) => ({
  iss,
  sub,
  aud: "app",
  iat: seconds(),
  exp: seconds() + 3600,
  email: `${sub}@app.test`,
});
const idToken = (sub: string) => rsa.sign(claims(oidcIssuer, sub));
const customToken = (sub: string) => ec.sign(claims(CUSTOM_ISSUER, sub));

async function http(token?: string | Promise<string>): Promise<ConvexHttpClient> {
  const auth = await token;
  return new ConvexHttpClient(backend.url, { logger: false, ...(auth && { auth }) });
}

function socket(token?: string): ConvexClient {
  const client = new ConvexClient(backend.url, {
    webSocketConstructor: WebSocket as unknown as typeof globalThis.WebSocket,
    unsavedChangesWarning: false,
    logger: false,
  });
  if (token !== undefined) client.setAuth(async () => token);
  open.push(client);
  return client;
}

/** A subscription's results, of which one can be waited for. */
function watch(client: ConvexClient, query: any, args: object = {}) {
  const results: unknown[] = [];
  let look = () => {};
  client.onUpdate(query, args, (result) => {
    results.push(result);
    look();
  });
  const until = (wanted: unknown) =>
    new Promise<void>((resolve) => {
      look = () => JSON.stringify(results.at(-1)) === JSON.stringify(wanted) && resolve();
      look();
    });
  return { results, until };
}

const executions = (path: string) =>
  completions.filter(({ address, cached }) => address.path === path && !cached).length;

test("tokens of both providers are taken, over HTTP and over a socket, with their claims", async () => {
  for (const [token, issuer] of [
    [await idToken("ada"), oidcIssuer],
    [await customToken("ada"), CUSTOM_ISSUER],
  ] as const) {
    const identity = {
      subject: "ada",
      issuer,
      tokenIdentifier: `${issuer}|ada`,
      email: "ada@app.test",
    };
    expect(await (await http(token)).query(users["whole"], {})).toEqual(identity);
    expect(await socket(token).query(users["whole"], {})).toEqual(identity);
  }
  expect(await (await http()).query(users["whole"], {})).toBeNull();
});

test("a user comes along into an action and its functions of the app, and into components in a transaction", async () => {
  const client = await http(idToken("ada"));
  expect(await client.action(users["act"], {})).toEqual({
    action: "ada",
    query: "ada",
    nested: "ada",
    // From an action the platform takes no user across the border of a component.
    component: null,
  });
  expect(await client.query(users["inComponent"], {})).toBe("ada");
});

test("a user's scheduled functions run without an identity", async () => {
  const client = await http(idToken("ada"));
  await client.mutation(users["note"], { body: "now" });
  expect(await client.query(users["noted"], { body: "now" })).toEqual(["ada"]);
  const noted = watch(socket(), users["noted"], { body: "later" });
  await client.mutation(users["noteLater"], { body: "later" });
  await noted.until(["null"]);
});

test("of two users with the same query each sees its own; a result without identity is shared", async () => {
  const [ada, bob] = [socket(await idToken("ada")), socket(await customToken("bob"))];
  const before = executions("users:nobody");
  await ada.query(users["nobody"], {});
  await bob.query(users["nobody"], {});
  expect(executions("users:nobody") - before).toBeLessThanOrEqual(1);
  const [adas, bobs] = [watch(ada, users["me"]), watch(bob, users["me"])];
  await Promise.all([adas.until("ada"), bobs.until("bob")]);
  expect([...new Set(adas.results), ...new Set(bobs.results)]).toEqual(["ada", "bob"]);
});

test("a connection's user may change, and its queries follow", async () => {
  const client = socket(await idToken("ada"));
  const me = watch(client, users["me"]);
  await me.until("ada");
  const bobs = await customToken("bob");
  client.setAuth(async () => bobs);
  await me.until("bob");
});

test("an admin acts as any user: convex run --identity", async () => {
  const identity = JSON.stringify({ subject: "eve", issuer: "made up", name: "Eve" });
  const ran = await run("run", "--identity", identity, "users:whole");
  expect(ran.stderr).not.toContain("✖");
  expect(JSON.parse(ran.stdout)).toEqual({
    subject: "eve",
    issuer: "made up",
    name: "Eve",
    tokenIdentifier: "made up|eve",
  });
});

test("an HTTP action sees the user; a bad token is an error only when it asks for one", async () => {
  const get = async (path: string, authorization?: string) => {
    const headers = authorization === undefined ? {} : { authorization };
    return (await fetch(backend.siteUrl + path, { headers })).text();
  };
  expect(await get("/me", `Bearer ${await idToken("ada")}`)).toBe("ada");
  expect(await get("/me")).toBe("nobody");
  expect(await get("/open", "Bearer mine")).toBe("Bearer mine");
  expect(await get("/me", "Bearer mine")).toContain("Could not parse JWT payload");
});

test("a push with a bad auth.config.ts is refused in words, and the old one stays", async () => {
  await write("convex/auth.config.ts", authConfig([{ domain: oidcIssuer, applicationId: "app" }]));
  const push = await run(...PUSH, "--typecheck", "disable");
  expect(push.code).toBe(1);
  expect(push.stderr).toContain("spelled lowercase 'application', capital I, capital D");
  expect(await (await http(idToken("ada"))).query(users["me"], {})).toBe("ada");
});
