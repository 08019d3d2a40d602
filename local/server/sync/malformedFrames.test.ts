/**
 * Frames that no client sends: each ends its connection with an error that names the fault, and is no fault of the
 * backend.
 */
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createCore, type Core } from "../../backend.js";
import { makeDeployment, PRELUDE } from "../../functions/testing.js";
import { createVirtualClock } from "../../virtual/clock.js";
import { encodeTs } from "../timestamps.js";

const clock = createVirtualClock({ seed: 1 });
let core: Core;
beforeAll(async () => {
  const urls = { cloud: "http://backend.test", site: "http://site.test" };
  core = await clock.run(createCore(urls, { quiet: true, env: clock }));
  const deployment = await makeDeployment({
    "": {
      "lib.ts": `${PRELUDE}
        export const read = query({ handler: (ctx) => ctx.db.query("rows").collect() });
        export const write = mutation({ handler: (ctx) => ctx.db.insert("rows", {}) });
        export const act = action({ handler: () => 1 });`,
    },
  });
  await clock.run(core.runner.install(deployment));
});
afterAll(() => clock.run(core.close()));

/** The backend's report about itself when something fails that must not: sessions tell it by `onCrash`. */
const crashes = vi.spyOn(console, "error").mockImplementation(() => {});
beforeEach(() => crashes.mockClear());

const CONNECT = {
  type: "Connect",
  sessionId: "s",
  connectionCount: 0,
  lastCloseReason: null,
  maxObservedTimestamp: encodeTs(0n),
  clientTs: 0,
};
const call = { udfPath: "lib:read", args: [{}], componentPath: "" };
/** As the official client sends them, in an order that a session takes. */
const MESSAGES: fc.JsonValue[] = [
  CONNECT,
  { type: "Authenticate", tokenType: "None", baseVersion: 0 },
  {
    type: "ModifyQuerySet",
    baseVersion: 0,
    newVersion: 1,
    modifications: [{ type: "Add", queryId: 0, journal: null, ...call }],
  },
  { type: "Mutation", requestId: 0, ...call, udfPath: "lib:write" },
  { type: "Action", requestId: 1, ...call, udfPath: "lib:act" },
  {
    type: "ModifyQuerySet",
    baseVersion: 1,
    newVersion: 2,
    modifications: [{ type: "Remove", queryId: 0 }],
  },
  { type: "Authenticate", tokenType: "User", value: "a.b.c", baseVersion: 1 },
  { type: "Event", eventType: "ClientConnect", event: {} },
];

/** Sends the frames one after the other, with time for an answer, and gives the server's messages. */
async function say(frames: readonly string[]): Promise<{ type: string }[]> {
  const socket = core.connect();
  const heard: { type: string }[] = [];
  socket.onMessage = (frame) => heard.push(JSON.parse(frame) as { type: string });
  for (const frame of frames) {
    socket.send(frame);
    await clock.run(clock.sleep(1_000));
  }
  socket.close();
  await clock.run(clock.sleep(1));
  return heard;
}

const types = (heard: { type: string }[]) => new Set(heard.map(({ type }) => type));

test("the unchanged conversation is answered, up to its bad token", async () => {
  const heard = types(await say(MESSAGES.map((message) => JSON.stringify(message))));
  expect(heard).toEqual(new Set(["Transition", "MutationResponse", "ActionResponse", "AuthError"]));
  expect(crashes).not.toHaveBeenCalled();
});

test("any text, and any JSON, is a FatalError", async () => {
  const frame = fc.oneof(fc.string(), fc.json({ maxDepth: 3 }));
  await fc.assert(
    fc.asyncProperty(frame, fc.boolean(), async (text, connected) => {
      const heard = await say([...(connected ? [JSON.stringify(CONNECT)] : []), text]);
      expect(types(heard)).toEqual(new Set(["FatalError"]));
      expect(crashes).not.toHaveBeenCalled();
    }),
    { numRuns: 100, seed: 1 },
  );
});

const anything = fc.oneof(
  fc.constantFrom<(fc.JsonValue | undefined)[]>(
    undefined,
    null,
    "",
    -1,
    0.5,
    2 ** 32,
    true,
    [],
    {},
    [null],
  ),
  fc.constantFrom<fc.JsonValue[]>(
    "User",
    "Admin",
    "_system/cli/tables",
    "lib",
    ":",
    "../lib:read",
    "child",
  ),
  fc.constantFrom<fc.JsonValue[]>(
    [{ $integer: "x" }],
    [{ $float: 1 }],
    [{ $bytes: "?" }],
    [{ "": 1 }],
    [[]],
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

test("a message with one field broken ends the connection with a reason, or is answered", async () => {
  const places = MESSAGES.flatMap((message, at) => pathsOf(message).map((path) => ({ at, path })));
  const endings = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...places), anything, async ({ at, path }, by) => {
      const frames = MESSAGES.map((message, index) =>
        JSON.stringify(index === at ? broken(message, path, by) : message),
      );
      for (const { type } of await say(frames)) endings.add(type);
      expect(crashes.mock.calls).toEqual([]);
    }),
    { numRuns: 300, seed: 1 },
  );
  expect(endings).toContain("FatalError");
});

function pathsOf(value: fc.JsonValue, at: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    [...at, name],
    ...pathsOf(inner as fc.JsonValue, [...at, name]),
  ]);
}

function broken(
  value: fc.JsonValue,
  [name = "", ...rest]: string[],
  by?: fc.JsonValue,
): fc.JsonValue {
  const copy = structuredClone(value) as Record<string, fc.JsonValue>;
  if (rest.length > 0) copy[name] = broken(copy[name] ?? null, rest, by);
  else if (by === undefined) delete copy[name];
  else copy[name] = by;
  return copy;
}
