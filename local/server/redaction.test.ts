/**
 * A backend as in production: errors' texts are for the admin, and clients receive a request's id and a ConvexError's
 * data.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCore, type Core } from "../backend.js";
import { makeDeployment, PRELUDE } from "../functions/testing.js";
import { createVirtualClock } from "../virtual/clock.js";

const LIB = `${PRELUDE}
  export const fails = query(() => { console.log("secret line"); throw new Error("secret text"); });
  export const tells = mutation(() => { console.log("secret line"); throw new ConvexError({ code: "mine" }); });
  export const logs = action(() => { console.log("secret line"); return 1; });
`;
const HTTP = `${PRELUDE}
  const http = httpRouter();
  const handler = httpAction(async () => { throw new Error("secret text"); });
  http.route({ path: "/fails", method: "GET", handler });
  const tells = httpAction(async () => { throw new ConvexError({ code: "mine" }); });
  http.route({ path: "/tells", method: "GET", handler: tells });
  export default http;`;
const clock = createVirtualClock({ seed: 1 });
let core: Core;
beforeAll(async () => {
  const urls = { cloud: "http://backend.test", site: "http://site.test" };
  core = await clock.run(createCore(urls, { quiet: true, redact: true, env: clock }));
  await clock.run(
    core.runner.install(await makeDeployment({ "": { "lib.ts": LIB, "http.ts": HTTP } })),
  );
});
afterAll(() => clock.run(core.close()));

async function call(path: string, headers: Record<string, string> = {}): Promise<any> {
  const request = new Request("http://backend.test/api/function", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify({ path, args: {} }),
  });
  return (await clock.run(core.fetch(request))).json();
}

/** The frames about a query, a mutation and an action that a socket's client receives. */
async function overSocket(): Promise<string[]> {
  const frames: string[] = [];
  const socket = core.connect();
  socket.onMessage = (frame) => frames.push(frame);
  const of = { args: [{}] };
  for (const message of [
    { type: "Connect", sessionId: "s", connectionCount: 0, lastCloseReason: null },
    {
      type: "ModifyQuerySet",
      baseVersion: 0,
      newVersion: 1,
      modifications: [{ type: "Add", queryId: 0, udfPath: "lib:fails", ...of }],
    },
    { type: "Mutation", requestId: 0, udfPath: "lib:tells", ...of },
    { type: "Action", requestId: 1, udfPath: "lib:logs", ...of },
  ]) {
    socket.send(JSON.stringify(message));
  }
  await clock.run(clock.sleep(1_000));
  socket.close();
  return frames;
}

const BARE = /^\[Request ID: [0-9a-f]+\] Server Error$/;

test("a client receives that its call failed, the request's id, and a ConvexError's data", async () => {
  expect(await call("lib:fails")).toEqual({
    status: "error",
    errorMessage: expect.stringMatching(BARE),
  });
  expect(await call("lib:tells")).toEqual({
    status: "error",
    errorMessage: expect.stringMatching(BARE),
    errorData: { code: "mine" },
  });
  expect(await call("lib:logs")).toEqual({ status: "success", value: 1 });
});

test("nor does a socket tell texts or log lines", async () => {
  const frames = await overSocket();
  const types = frames.map((frame) => (JSON.parse(frame) as { type: string }).type);
  expect(types).toEqual(
    expect.arrayContaining(["Transition", "MutationResponse", "ActionResponse"]),
  );
  expect(frames.join("\n")).toContain("Server Error");
  expect(frames.join("\n")).toContain('"code":"mine"');
  expect(frames.join("\n")).not.toContain("secret");
});

test("nor an HTTP action's response", async () => {
  const get = async (path: string, headers: Record<string, string> = {}): Promise<any> =>
    (await clock.run(core.site(new Request(`http://site.test${path}`, { headers })))).json();
  expect(await get("/fails")).toEqual({ code: expect.stringMatching(BARE) });
  expect(await get("/tells")).toEqual({
    code: expect.stringMatching(BARE),
    data: { code: "mine" },
  });
  const told = await get("/fails", { authorization: `Convex ${core.adminKey}` });
  expect(told).toMatchObject({ code: expect.stringContaining("secret text") });
});

test("the admin receives all of it", async () => {
  const told = await call("lib:fails", { authorization: `Convex ${core.adminKey}` });
  expect(told.errorMessage).toContain("secret text");
  expect(told.logLines).toEqual([expect.stringContaining("secret line")]);
});
