/** Bad input from clients and workers: each is a typed ConvexError with a way out, and changes nothing. */
import { randomUUID } from "node:crypto";
import { isConveyorError, type ConveyorErrorCode } from "convex-conveyor";
import { afterAll, beforeAll, expect, test } from "vitest";
import { api, internal } from "../support/app/convex/_generated/api.js";
import { startApp, type TestApp } from "../support/testApp.js";
import { jobCalls } from "../../src/shared/index.js";

const secrets = jobCalls(api.secrets);

const sums = jobCalls(api.sums);

let app: TestApp;
let token: string;
beforeAll(async () => {
  app = await startApp();
  token = await app.token();
});
afterAll(() => app?.close());

async function refused(call: Promise<unknown>, code: ConveyorErrorCode): Promise<string> {
  const error: unknown = await call.then(
    () => expect.fail(`was accepted, wanted ${code}`),
    (reason: unknown) => reason,
  );
  if (!isConveyorError(error, code)) throw error;
  return error.data.message;
}

const claim = (change: object) =>
  app.client.mutation(api.work.claim, {
    token,
    sessionKey: randomUUID(),
    name: "clumsy",
    callSeq: 1,
    queues: ["sums"],
    max: 1,
    ...change,
  });

test("a payload that fails its validator says where, and names the expected and the given value", async () => {
  const payload = { n: "seven", workMs: 0 } as unknown as { n: number; workMs: number };
  const message = await refused(
    app.client.mutation(...sums.enqueue("sums", payload)),
    "invalidPayload",
  );
  expect(message).toMatch(/n\b/);
  expect(message).toMatch(/seven|string/);
});

test("an oversized payload is refused, and so is its whole batch", async () => {
  const payload = { n: 1, workMs: 0, padding: "x".repeat(2 * 1024 * 1024) };
  const big = { queue: { name: "secrets", config: {} }, payload };
  await refused(app.client.mutation(...secrets.enqueue("secrets", big)), "payloadTooLarge");
  const batch = app.client.mutation(...secrets.enqueueMany("secrets", [1, big]));
  await refused(batch, "payloadTooLarge");
  const { counts } = await app.client.query(api.secrets.stats, { queue: "secrets" });
  expect(counts).toMatchObject({ pending: { count: 0 } });
});

test("an empty batch is refused", async () => {
  await refused(app.client.mutation(...sums.enqueueMany("sums", [])), "invalidArgument");
});

test("an unknown job cannot be canceled or retried, and its status is null", async () => {
  await refused(app.client.mutation(api.sums.cancel, { id: "nonsense" }), "unknownJob");
  await refused(app.client.mutation(api.sums.retry, { id: "nonsense" }), "unknownJob");
  expect(await app.client.query(...sums.status("nonsense"))).toBeNull();
});

test("a queue that workerApi does not serve is unknown, and the message names the queues it serves", async () => {
  expect(await refused(claim({ queues: ["nope"] }), "unknownQueue")).toContain("sums");
});

test("a queue outside the token's scope is forbidden", async () => {
  const other = await app.token(["something-else"]);
  await refused(claim({ token: other }), "queueForbidden");
  const call = { kind: "hasWork" as const, queues: ["sums"] };
  const asked = app.client.query(api.work.watch, { token: other, call });
  await refused(asked, "queueForbidden");
});

test.each([
  ["max", { max: 0 }],
  ["max", { max: -1 }],
  ["max", { max: 1.5 }],
  ["max", { max: 1e9 }],
  ["max", { max: Number.NaN }],
  ["callSeq", { callSeq: 0 }],
  ["callSeq", { callSeq: -3 }],
  ["callSeq", { callSeq: Number.POSITIVE_INFINITY }],
  ["queues", { queues: [] }],
  ["session", { sessionKey: "" }],
])("a claim with an absurd %s is refused: %j", async (name, change) => {
  expect(await refused(claim(change), "invalidArgument")).toContain(name);
});

test("an invented token, a revoked one and one of another deployment have errors of their own", async () => {
  const tag = token.split("_")[1]!;
  await refused(claim({ token: `cvy_${tag}_${"0".repeat(64)}` }), "tokenUnknown");
  await refused(claim({ token: "nonsense" }), "tokenUnknown");
  expect(await refused(claim({ token: `cvy_00000000_${"0".repeat(64)}` }), "tokenForeign")).toMatch(
    /another deployment/,
  );

  const mine = await app.run(internal.tokens.create, { name: "short-lived", queues: null });
  await app.run(internal.tokens.revoke, { id: mine.id });
  await refused(claim({ token: mine.token }), "tokenRevoked");
});

test("a session of one token is not another token's to use", async () => {
  const sessionKey = randomUUID();
  await claim({ sessionKey });
  await refused(claim({ sessionKey, token: await app.token(), callSeq: 2 }), "sessionForbidden");
});

test("nothing that was refused left a job or a lease behind", async () => {
  const { counts } = await app.client.query(api.sums.stats, { queue: "sums" });
  expect(counts).toMatchObject({ pending: { count: 0 }, running: { count: 0 } });
});
