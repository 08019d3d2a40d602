/** The calling user: by token, in queries and the cache, in actions, in components. */
import { expect } from "vitest";
import { api } from "../app/convex/_generated/api.js";
import { newGroup, NO_WIRE, type Case } from "../case.js";
import type { Server } from "../target.js";
import { signedIn, tokenOf } from "../users.js";
import { post } from "../wire.js";

function asks(id: string, says: string, ask: (server: Server) => Promise<void>): Case {
  return { id, says, convexTest: NO_WIRE, run: (target) => ask(target.server()) };
}

async function statusOf(server: Server, token: string): Promise<number> {
  const body = { path: "users:identity", args: {} };
  const reply = await post(server, "/api/query", { body, authorization: `Bearer ${token}` });
  return reply.status;
}

export const users: Case[] = [
  asks("7.user-claims", "a function gets the user of the caller's token", async (server) => {
    const client = await signedIn(server, "ada");
    expect(await client.query(api.users.identity, {})).toMatchObject({
      subject: "ada",
      issuer: "https://conformance.example",
      tokenIdentifier: "https://conformance.example|ada",
      name: "User ada",
    });
  }),
  asks(
    "7.user-refused",
    "a token for another application, one that has expired, and one that was tampered with are refused",
    async (server) => {
      expect(await statusOf(server, await tokenOf("ada"))).toBe(200);
      expect(await statusOf(server, await tokenOf("ada", { audience: "other" }))).toBe(401);
      expect(await statusOf(server, await tokenOf("ada", { expires: "-1 minute" }))).toBe(401);
      const [head, , signature] = (await tokenOf("ada")).split(".");
      const [, claims] = (await tokenOf("eve")).split(".");
      expect(await statusOf(server, [head, claims, signature].join("."))).toBe(401);
    },
  ),
  asks(
    "7.user-cache",
    "a query that reads the user is cached for each user; one that does not, for all",
    async (server) => {
      const [ada, eve] = [await signedIn(server, "ada"), await signedIn(server, "eve")];
      const salt = newGroup();
      const first = await ada.query(api.users.cachedWho, { salt });
      expect(first.who).toBe("ada");
      const others = await eve.query(api.users.cachedWho, { salt });
      expect(others.who).toBe("eve");
      expect(others.dice).not.toBe(first.dice);
      expect(await ada.query(api.users.cachedWho, { salt })).toEqual(first);
      const forAll = await ada.query(api.users.cachedForAll, { salt });
      expect(await eve.query(api.users.cachedForAll, { salt })).toBe(forAll);
    },
  ),
  asks(
    "7.user-nested",
    "functions that a mutation calls know the user, in the same transaction",
    async (server) => {
      const client = await signedIn(server, "ada");
      expect(await client.mutation(api.users.throughout, {})).toEqual(["ada", "ada"]);
    },
  ),
  asks(
    "5.1.user-from-action",
    "an action's user is known to the app's functions that it calls, and not to a component's",
    async (server) => {
      const client = await signedIn(server, "ada");
      expect(await client.action(api.users.everywhere, {})).toEqual(["ada", "ada", null]);
    },
  ),
];
