/** HTTP actions, files and environment variables of an app and a mounted component that the official CLI pushed. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBackend, type Backend } from "../backend.js";
import { convex, copyFixture, PUSH, type FixtureApp } from "../push/testing.js";

const APP_HTTP = `
  import { httpRouter } from "convex/server";
  import { httpAction, internalMutation } from "./_generated/server.js";
  import { internal } from "./_generated/api.js";
  const http = httpRouter();
  const cors = { "Access-Control-Allow-Origin": "https://page" };
  http.route({ path: "/greeting", method: "GET", handler: httpAction(async () => new Response(process.env.GREETING ?? "none")) });
  http.route({ path: "/files", method: "POST", handler: httpAction(async (ctx, request) => {
    const id = await ctx.storage.store(await request.blob());
    return Response.json({ url: await ctx.storage.getUrl(id) }, { headers: cors });
  }) });
  http.route({ path: "/files", method: "OPTIONS", handler: httpAction(async () => new Response(null, { status: 204, headers: cors })) });
  export default http;
`;
const COUNTER_HTTP = `
  import { httpRouter } from "convex/server";
  import { httpAction } from "./_generated/server.js";
  const http = httpRouter();
  http.route({ pathPrefix: "/env/", method: "GET", handler: httpAction(async (ctx, request) =>
    Response.json({ site: process.env.CONVEX_SITE_URL, step: process.env.STEP, greeting: process.env.GREETING, path: new URL(request.url).pathname })) });
  export default http;
`;

let backend: Backend;
let app: FixtureApp;
let data: string;
let config: string;

const run = (...args: string[]) => convex(backend, app.directory, ...args);

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "conveyor-served-"));
  backend = await startBackend({ quiet: true, data });
  app = await copyFixture();
  config = await readFile(join(app.directory, "convex/convex.config.ts"), "utf8");
  await writeFile(join(app.directory, "convex/http.ts"), APP_HTTP);
  await writeFile(join(app.directory, "counter/http.ts"), COUNTER_HTTP);
  const mounted = config.replace(`name: "visits"`, `name: "visits", httpPrefix: "/visits/"`);
  await writeFile(join(app.directory, "convex/convex.config.ts"), mounted);
  const push = await run(...PUSH);
  expect(push.stderr).toContain("Convex functions ready!");
});
afterAll(async () => {
  await backend.close();
  await app.remove();
  await rm(data, { recursive: true });
});

const site = (path: string, init?: RequestInit) => fetch(`${backend.siteUrl}${path}`, init);

test("the routes are on the site's own port and below /http, and the app decides on CORS", async () => {
  expect(await (await site("/greeting")).text()).toBe("none");
  expect(await (await fetch(`${backend.url}/http/greeting`)).text()).toBe("none");
  const preflight = await site("/files", { method: "OPTIONS" });
  expect(preflight.headers.get("access-control-allow-origin")).toBe("https://page");
  expect(await (await site("/nowhere")).text()).toBe("No matching routes found");
});

test("a variable that is set with the CLI is seen at once, by the app and not by its components", async () => {
  expect(await run("env", "set", "GREETING", "hello")).toMatchObject({ code: 0 });
  expect(await (await site("/greeting")).text()).toBe("hello");
  expect(await (await site("/visits/env/x")).json()).toEqual({
    site: `${backend.siteUrl}/visits`,
    path: "/visits/env/x",
  });
  // Mounted without a prefix, its routes are nowhere.
  expect((await site("/counter/env/x")).status).toBe(404);
});

test("a handler's stored file is served, also after a restart", async () => {
  const stored = await site("/files", {
    method: "POST",
    body: "bytes",
    headers: { "Content-Type": "text/x" },
  });
  const { url } = (await stored.json()) as { url: string };
  expect(await (await fetch(url)).text()).toBe("bytes");

  const [port, sitePort] = [backend.url, backend.siteUrl].map((at) => Number(new URL(at).port));
  await backend.close();
  backend = await startBackend({ quiet: true, data, port: port!, sitePort: sitePort! });
  const again = await fetch(url, { headers: { Range: "bytes=1-2" } });
  expect([again.status, again.headers.get("content-type"), await again.text()]).toEqual([
    206,
    "text/x",
    "yt",
  ]);
  expect(await (await site("/greeting")).text()).toBe("hello");
  expect(await (await site("/visits/env/")).json()).toMatchObject({ path: "/visits/env/" });
});

test("a push that requires a variable which is not set is refused, and says which", async () => {
  const requiring = config.replace("GREETING: v.optional(v.string())", "MISSING_ONE: v.string()");
  expect(requiring).not.toBe(config);
  await writeFile(join(app.directory, "convex/convex.config.ts"), requiring);
  const push = await run(...PUSH);
  expect(push.code).not.toBe(0);
  expect(push.stderr).toContain("MISSING_ONE");
  expect(await (await site("/greeting")).text()).toBe("hello");
});

test("an http.ts that exports no router is refused in the platform's words", async () => {
  await writeFile(join(app.directory, "convex/convex.config.ts"), config);
  await writeFile(join(app.directory, "convex/http.ts"), "export default 1;");
  const push = await run(...PUSH);
  expect(push.code).not.toBe(0);
  expect(push.stderr).toContain("The default export of `convex/http.js` is not a Router.");
});
