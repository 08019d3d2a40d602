/** Tokens that end while the official client is connected: on virtual time, so that an hour takes no time. */
import type { ConvexClient } from "convex/browser";
import { anyApi } from "convex/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDeployment, PRELUDE } from "../functions/testing.js";
import { createWorld, type World } from "../virtual/world.js";
import { createKey, type TestKey } from "./testing.js";

const ISSUER = "https://custom.test";
const USERS = `${PRELUDE}
  const subject = async (ctx) => (await ctx.auth.getUserIdentity())?.subject ?? null;
  export const write = mutation(async (ctx) => void (await ctx.db.insert("rows", { by: await subject(ctx) })));
  export const read = query(async (ctx) => ({ me: await subject(ctx), rows: (await ctx.db.query("rows").collect()).map(({ by }) => by) }));
`;
const { read, write } = anyApi["users"] as Record<string, any>;

let world: World;
let key: TestKey;
let client: ConvexClient;
let seen: unknown[];
let signedIn: boolean[];
/** Each time the client has asked for a token: whether it wanted another than before. */
let asked: { forced: boolean; at: number }[];
let startedAt: number;

beforeEach(async () => {
  key = await createKey("ES256", "ec");
  world = await createWorld({ seed: 1 });
  const jwks = `data:application/json,${encodeURIComponent(JSON.stringify({ keys: [key.publicJwk] }))}`;
  const deployment = await makeDeployment({ "": { "users.ts": USERS } });
  const provider = {
    type: "customJwt",
    issuer: ISSUER,
    jwks,
    algorithm: "ES256",
    applicationID: null,
  } as const;
  await world.run(world.backend.runner.install({ ...deployment, auth: [provider] }));
  client = world.client();
  [seen, signedIn, asked, startedAt] = [[], [], [], world.now()];
});
afterEach(() => world.close());

/** Of Ada, by its times in seconds from the start. */
function token(iat: number, exp: number): Promise<string> {
  const at = (seconds: number) => Math.floor(startedAt / 1000) + seconds;
  return key.sign({ iss: ISSUER, sub: "ada", iat: at(iat), exp: at(exp) });
}

const seconds = () => (world.now() - startedAt) / 1000;

/** The app signs its user in; it returns the first token that has not ended. */
function signIn(tokens: { until: number; text: string | null }[]): void {
  client.setAuth(
    async ({ forceRefreshToken }) => {
      asked.push({ forced: forceRefreshToken, at: seconds() });
      return tokens.find(({ until }) => seconds() < until)?.text ?? null;
    },
    (isAuthenticated) => signedIn.push(isAuthenticated),
  );
  client.onUpdate(read, {}, (result) => seen.push(result));
}

/** Long enough before now that the client believes it has much time left; so the server is the first to say no. */
const LONG_AGO = -3600;

test("a mutation with a token that has ended is held back until there is another, and runs once, as its user", async () => {
  signIn([
    { until: 30, text: await token(LONG_AGO, 20) },
    { until: 7200, text: await token(30, 7200) },
  ]);
  await world.advance(40_000);
  expect(seen.at(-1)).toEqual({ me: "ada", rows: [] });
  const before = asked.length;
  await world.run(client.mutation(write, {}));
  await world.advance(1_000);
  expect(asked.slice(before)).toMatchObject([{ forced: true }]);
  expect(seen.at(-1)).toEqual({ me: "ada", rows: ["ada"] });
  expect(seen).not.toContainEqual(expect.objectContaining({ me: null }));
  expect(signedIn).not.toContain(false);
});

test("writes after a token has ended are never shown in its name, and are shown to its user with another", async () => {
  signIn([
    { until: 30, text: await token(LONG_AGO, 20) },
    { until: 7200, text: await token(30, 7200) },
  ]);
  await world.advance(40_000);
  const before = asked.length;
  await world.call("users:write");
  await world.advance(5_000);
  expect(asked.slice(before)).toMatchObject([{ forced: true }]);
  expect(seen.at(-1)).toEqual({ me: "ada", rows: [null] });
});

test("a client that knows when its token ends has another before, and the server never says no", async () => {
  const tokens = await Promise.all(
    Array.from({ length: 6 }, async (_, n) => ({
      until: 50 * n + 45,
      text: await token(50 * n, 50 * n + 60),
    })),
  );
  // The client begins with the app's stored token, and asks for another at once to know its age.
  signIn([{ until: 0.001, text: await token(0, 60) }, ...tokens]);
  for (let minute = 0; minute < 4; minute++) {
    await world.advance(60_000);
    await world.run(client.mutation(write, {}));
  }
  // Ten seconds before each ends: had the server said no, there would be more.
  expect(asked.map(({ at }) => Math.floor(at))).toEqual([0, 0, 50, 100, 150, 200]);
  expect(signedIn).not.toContain(false);
  expect(seen.at(-1)).toEqual({ me: "ada", rows: ["ada", "ada", "ada", "ada"] });
});

test("a user that signs out has no identity in the queries of the same connection", async () => {
  signIn([{ until: 7200, text: await token(0, 7200) }]);
  await world.advance(1_000);
  expect(seen.at(-1)).toMatchObject({ me: "ada" });
  client.client.clearAuth();
  await world.advance(1_000);
  expect(seen.at(-1)).toMatchObject({ me: null });
});

test("without another token the user is signed out, and sees the public results", async () => {
  signIn([{ until: 30, text: await token(LONG_AGO, 20) }]);
  await world.advance(40_000);
  await world.call("users:write");
  await world.advance(10_000);
  expect(signedIn.at(-1)).toBe(false);
  expect(seen.at(-1)).toEqual({ me: null, rows: [null] });
});

test("a token that never was any good does not sign a user in", async () => {
  signIn([{ until: 7200, text: "a.b.c" }]);
  await world.advance(60_000);
  expect(signedIn).not.toContain(true);
  expect(seen.at(-1)).toEqual({ me: null, rows: [] });
});
