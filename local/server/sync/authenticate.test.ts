/** The identity of a socket's client, and its changes while it is connected. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PlatformError } from "../../functions/errors.js";
import type { Identity } from "../../functions/types.js";
import { addQuery, answer, endOf, mutation, SyncStage, user } from "./stage.js";

describe("a client on a socket", () => {
  let stage: SyncStage;
  beforeEach(async () => {
    stage = new SyncStage();
    await stage.open();
  });
  afterEach(() => stage.close());

  test("the admin's key opens internal functions, and another key is a fatal error", async () => {
    const identities: unknown[] = [];
    stage.calls.query = async ({ identity }) => {
      identities.push(identity.kind);
      return answer(null, 100n);
    };
    const client = await stage.connect();
    client.send({ type: "Authenticate", tokenType: "Admin", value: "secret", baseVersion: 0 });
    client.send(addQuery(0, 1));
    await client.until(
      (message) => (message["endVersion"] as { querySet?: number }).querySet === 1,
    );
    expect(identities).toEqual(["admin"]);
    client.send({ type: "Authenticate", tokenType: "Admin", value: "guess", baseVersion: 1 });
    expect(await client.nextOf("AuthError", 1)).toMatchObject([
      { error: expect.stringContaining("admin key was invalid") as unknown },
    ]);
  });

  test("an admin may act as a user", async () => {
    const identities: unknown[] = [];
    stage.calls.query = async ({ identity }) => {
      identities.push(identity);
      return answer(null, 100n);
    };
    const client = await stage.connect();
    const impersonating = { issuer: "i", subject: "s" };
    client.send({
      type: "Authenticate",
      tokenType: "Admin",
      value: "secret",
      baseVersion: 0,
      impersonating,
    });
    client.send(addQuery(0, 1));
    await client.until((message) => endOf(message).querySet === 1);
    expect(identities).toEqual([{ kind: "admin", actingAs: impersonating }]);
  });

  test("calls behind a token are answered to the token's user, however long it takes to verify", async () => {
    let verified: (identity: Identity) => void = () => {};
    stage.verify = () => new Promise((resolve) => (verified = resolve));
    const seen: unknown[] = [];
    stage.calls.query = async ({ identity }) => answer(seen.push(identity.kind) && null, 100n);
    stage.calls.mutation = async ({ identity }) => {
      seen.push(`mutation by ${identity.kind}`);
      return { ok: true, value: null, logs: [], ts: 100n };
    };
    const client = await stage.connect();
    client.send({ type: "Authenticate", tokenType: "User", value: "jwt", baseVersion: 0 });
    client.send(addQuery(0, 1));
    client.send(mutation(0));
    await client.heard();
    expect(seen).toEqual([]);
    verified(user("jwt", Infinity));
    await client.nextOf("MutationResponse", 1);
    expect(seen.sort()).toEqual(["mutation by user", "user"]);
    expect(await client.until((message) => message.type === "Transition")).toMatchObject({
      endVersion: { identity: 1, querySet: 1 },
    });
  });

  test("another identity runs every query again", async () => {
    const seen: unknown[] = [];
    stage.calls.query = async ({ identity }) => answer(seen.push(identity.kind) && null, 100n);
    const client = await stage.connect();
    client.send(addQuery(0, 1));
    await client.next();
    client.send({ type: "Authenticate", tokenType: "User", value: "jwt", baseVersion: 0 });
    expect(await client.next()).toMatchObject({ modifications: [], endVersion: { identity: 1 } });
    client.send({ type: "Authenticate", tokenType: "None", baseVersion: 1 });
    expect(await client.next()).toMatchObject({ endVersion: { identity: 2 } });
    expect(seen).toEqual(["none", "user", "none"]);
  });

  test("a token that does not hold is an AuthError, and the connection ends without a code", async () => {
    stage.verify = () => Promise.reject(new PlatformError(401, "InvalidAuthHeader", "expired"));
    const client = await stage.connect();
    client.send({ type: "Authenticate", tokenType: "User", value: "jwt", baseVersion: 0 });
    expect(await client.next()).toEqual({
      type: "AuthError",
      error: "expired",
      baseVersion: 0,
      authUpdateAttempted: true,
    });
    expect((await client.closed).code).toBe(1005);
  });

  test("a token that ends while its bearer is connected is an AuthError at the next thing that is done in its name", async () => {
    stage.verify = async (token) => user(token, 1000);
    stage.calls.query = async () => answer(null, 100n);
    const client = await stage.connect();
    client.send({ type: "Authenticate", tokenType: "User", value: "jwt", baseVersion: 0 });
    client.send(addQuery(0, 1));
    await client.until((message) => endOf(message).querySet === 1);
    stage.now = 1000;
    stage.publish({ ts: 101n, touches: () => true });
    expect(await client.next()).toEqual({
      type: "AuthError",
      error: "Convex token identity expired",
      baseVersion: 1,
      authUpdateAttempted: false,
    });
  });
});
