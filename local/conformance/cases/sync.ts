/** §6.1: a socket's query updates, its identity, and messages that it may not send. */
import { expect } from "vitest";
import { api } from "../app/convex/_generated/api.js";
import type { Read } from "../app/convex/rows.js";
import { newGroup, NO_WIRE, type Case } from "../case.js";
import { decodeTs, encodeTs, RawSocket, updated, type Message } from "../rawSocket.js";
import { isTransition, look, over, tells } from "./socketCase.js";

export const sync: Case[] = [
  over(
    "6.1.first-transition",
    "the first transition begins at version 0, and carries every query's value",
    async (socket, _, group) => {
      socket.modify(look(0, group), look(1, group));
      const transition = await socket.until(isTransition);
      expect(transition["startVersion"]).toEqual({ querySet: 0, identity: 0, ts: "AAAAAAAAAAA=" });
      expect(transition["endVersion"]).toMatchObject({ querySet: 1, identity: 0 });
      expect(updated(transition, 0)).toMatchObject({ type: "QueryUpdated", value: [[]] });
      expect(updated(transition, 1)).toMatchObject({ type: "QueryUpdated", value: [[]] });
    },
  ),
  over(
    "6.1.versions-chain",
    "each transition begins where the last one ended, with a timestamp that never goes back",
    async (socket, target, group) => {
      socket.modify(look(0, group));
      let last = await socket.until(isTransition);
      for (const n of [1, 2, 3]) {
        await target.mutation(api.rows.seed, { group, ns: [n] });
        for (const next of await socket.through(tells(0))) {
          expect(next["startVersion"]).toEqual(last["endVersion"]);
          const [before, after] = [last["endVersion"], next["endVersion"]].map(({ ts }) =>
            decodeTs(ts as string),
          );
          expect(after).toBeGreaterThanOrEqual(before!);
          last = next;
        }
      }
      expect(updated(last, 0)).toMatchObject({ value: [[1, 2, 3]] });
    },
  ),
  over(
    "6.1.one-timestamp",
    "queries of one socket are always shown at one moment",
    async (socket, target, group) => {
      socket.modify(look(0, group), look(1, group, { op: "read", order: "desc" }));
      const seen = new Map<number, number>();
      const follow = async (total: number) => {
        while (seen.get(0) !== total) {
          const transition = await socket.until(isTransition);
          for (const id of [0, 1]) {
            const value = updated(transition, id)?.["value"] as [number[]] | undefined;
            if (value !== undefined) seen.set(id, value[0].length);
          }
          expect(seen.get(1)).toBe(seen.get(0));
        }
      };
      const writing = Promise.all(
        [1, 2, 3, 4].map((n) => target.mutation(api.rows.seed, { group, ns: [n] })),
      );
      await follow(4);
      await writing;
    },
  ),
  over(
    "6.1.only-what-changed",
    "a write that a query has not read does not run it again",
    async (socket, target, group) => {
      socket.modify(look(0, group), look(1, `${group}-other`));
      await socket.until(tells(0));
      await target.mutation(api.rows.seed, { group, ns: [1] });
      const transition = await socket.until(tells(0));
      expect(updated(transition, 1)).toBeUndefined();
    },
  ),
  over(
    "6.1.unchanged-not-sent",
    "a query with the same result is not sent again",
    async (socket, target, group) => {
      const ids = await target.mutation(api.rows.seed, { group, ns: [1] });
      socket.modify(look(0, group), look(1, group, { op: "read", lt: 1 }));
      await socket.until(tells(0));
      // It changes no number, then one does.
      await target.mutation(api.rows.only, {
        group,
        ids,
        steps: [{ op: "patch", at: 0, value: { note: 1 } }],
      });
      await target.mutation(api.rows.seed, { group, ns: [2] });
      const transition = await socket.until(tells(0));
      expect(updated(transition, 0)).toMatchObject({ value: [[1, 2]] });
    },
  ),
  over(
    "6.1.query-removed",
    "a removed query is confirmed as removed, and never updated again",
    async (socket, target, group) => {
      socket.modify(look(0, group), look(1, group));
      await socket.until(tells(0));
      socket.modify(0);
      const removed = await socket.until((message) => message["endVersion"]?.querySet === 2);
      expect(updated(removed, 0)).toEqual({ type: "QueryRemoved", queryId: 0 });
      await target.mutation(api.rows.seed, { group, ns: [1] });
      expect(updated(await socket.until(tells(1)), 0)).toBeUndefined();
    },
  ),
  over(
    "6.1.query-failed",
    "a query that throws is sent as failed, with its data",
    async (socket) => {
      socket.modify({ id: 3, path: "calls:failingQuery", args: {} });
      const transition = await socket.until(tells(3));
      expect(updated(transition, 3)).toMatchObject({
        type: "QueryFailed",
        errorMessage: expect.stringContaining("ConvexError") as unknown,
        errorData: "no",
      });
    },
  ),
  {
    id: "6.1.observed-in-future",
    says: "a client that has observed a later timestamp than the server knows is turned away",
    convexTest: NO_WIRE,
    run: async (target) => {
      const maxObservedTimestamp = encodeTs(BigInt(Date.now() + 86_400_000) * 1_000_000n);
      const socket = await RawSocket.open(target.server(), { maxObservedTimestamp });
      socket.modify(look(0, newGroup()));
      const { code } = await socket.closed;
      expect(code).not.toBe(1000);
    },
  },
  over(
    "6.1.base-version",
    "a query set that does not follow from the last is a fatal error",
    async (socket) => {
      socket.send({ type: "ModifyQuerySet", baseVersion: 5, newVersion: 6, modifications: [] });
      const end = await Promise.race([
        socket.until(({ type }) => type === "FatalError"),
        socket.closed.then(({ code }) => ({ type: `closed with ${code}` })),
      ]);
      expect(end.type).toMatch(/FatalError|closed/);
    },
  ),
  over(
    "6.1.bad-token",
    "a token that is not valid is an AuthError, at the version that it was for",
    async (socket) => {
      socket.send({ type: "Authenticate", baseVersion: 0, tokenType: "User", value: "a.b.c" });
      expect(await socket.until(({ type }) => type === "AuthError")).toMatchObject({
        baseVersion: 0,
      });
    },
  ),
  over(
    "6.1.identity-version",
    "a change of identity is a version of its own, and runs every query again",
    async (socket, _, group) => {
      socket.modify(look(0, group));
      await socket.until(tells(0));
      socket.send({ type: "Authenticate", baseVersion: 0, tokenType: "None" });
      const transition = await socket.until(isTransition);
      expect(transition["endVersion"]).toMatchObject({ identity: 1 });
    },
  ),
  over(
    "6.1.admin",
    "an admin who signs in may watch internal queries, and no other user",
    async (socket, target) => {
      socket.modify({ id: 0, path: "runtime:hidden", args: {} });
      expect(updated(await socket.until(tells(0)), 0)).toMatchObject({ type: "QueryFailed" });
      socket.send({
        type: "Authenticate",
        baseVersion: 0,
        tokenType: "Admin",
        value: target.server().adminKey,
      });
      expect(updated(await socket.until(tells(0)), 0)).toMatchObject({ value: "hidden" });
    },
  ),
  over(
    "6.1.large",
    "a transition over 5,000,000 bytes comes in parts that make up its JSON",
    async (socket, _, group) => {
      socket.modify({ id: 0, path: "values:long", args: { group, size: 6_000_000 } });
      const parts = await socket.through(
        (m) => m.type === "TransitionChunk" && m["partNumber"] === m["totalParts"] - 1,
      );
      const chunks = parts.filter(({ type }) => type === "TransitionChunk");
      expect(chunks.length).toBeGreaterThan(1);
      const whole = JSON.parse(chunks.map((part) => part["chunk"] as string).join("")) as Message;
      expect(updated(whole, 0)?.["value"]).toHaveLength(6_000_000);
    },
  ),
  over(
    "6.1.watched-page",
    "the end of a page that is watched stays where it was, when its journal is given back",
    async (socket, target, group) => {
      await target.mutation(api.rows.seed, { group, ns: [10, 20, 30] });
      const page: Read = { op: "read", how: { page: 2, cursor: null } };
      socket.modify(look(0, group, page));
      const first = updated(await socket.until(tells(0)), 0)!;
      expect(first["value"][0].page).toEqual([10, 20]);
      await target.mutation(api.rows.seed, { group, ns: [15] });
      const watched = updated(await socket.until(tells(0)), 0)!;
      expect(watched["value"][0].page).toEqual([10, 15, 20]);
      expect(typeof first["journal"]).toBe("string");
      socket.modify(0, { ...look(1, group, page), journal: first["journal"] as string });
      const again = updated(await socket.until(tells(1)), 1)!;
      expect(again["value"][0].page).toEqual([10, 15, 20]);
    },
  ),
];
