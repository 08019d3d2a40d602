/**
 * The state that a push leaves when it fails midway, and the view of other clients while it goes. Pushed by the
 * official CLI.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConvexClient, ConvexHttpClient } from "convex/browser";
import { anyApi as api } from "convex/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startBackend, type Backend } from "../backend.js";
import { convex, copyFixture, PUSH, type FixtureApp } from "./testing.js";

const list = api["probe"]!["list"]!;
const send = api["probe"]!["send"]!;

/** The app's table, with or without the index that the first version of its code needs. */
const schema = (index: string) => `
  import { defineSchema, defineTable } from "convex/server";
  import { v } from "convex/values";
  export default defineSchema({ messages: defineTable({ author: v.string(), body: v.string() })${index} });`;
const functions = (where: string) => `
  import { queryGeneric as query, mutationGeneric as mutation } from "convex/server";
  export const list = query({ args: {}, handler: async (ctx: any) =>
    (await ctx.db.query("messages")${where}.collect()).length });
  export const send = mutation({ args: {}, handler: async (ctx: any) => {
    await ctx.db.insert("messages", { author: "a", body: "b" });
  } });`;
const INDEXED = [
  schema(`.index("by_author", ["author"])`),
  functions(`.withIndex("by_author", (q: any) => q.eq("author", "a"))`),
] as const;
const PLAIN = [schema(""), functions("")] as const;
/** One index more than a table may have: found out only when the component's tables are made. */
const TOO_MANY_INDEXES = `
  import { defineSchema, defineTable } from "convex/server";
  import { v } from "convex/values";
  const names = Array.from({ length: 33 }, (_, i) => "f" + i);
  let table = defineTable(Object.fromEntries(names.map((name) => [name, v.optional(v.string())]))) as any;
  for (const name of names) table = table.index("by_" + name, [name]);
  export default defineSchema({ many: table, counters: defineTable(v.any()) });`;

let backend: Backend;
let app: FixtureApp;
beforeEach(async () => {
  backend = await startBackend({ quiet: true });
  app = await copyFixture();
});
afterEach(async () => {
  await backend.close();
  await app.remove();
});

const write = (file: string, text: string) => writeFile(join(app.directory, file), text);
async function push([tables, code]: readonly [string, string]) {
  await write("convex/schema.ts", tables);
  await write("convex/probe.ts", code);
  return convex(backend, app.directory, ...PUSH, "--typecheck", "disable");
}

test("a push that fails midway leaves the old one whole: no code runs with another push's indexes", async () => {
  expect(await push(INDEXED)).toMatchObject({ code: 0 });
  const client = new ConvexHttpClient(backend.url, { logger: false });
  await client.mutation(send, {});
  await write("counter/schema.ts", TOO_MANY_INDEXES);
  expect(await push(PLAIN)).toMatchObject({ code: 1 });
  expect(await client.query(list, {})).toBe(1);
});

test("subscribed clients see no error while a push takes an index away together with its use", async () => {
  expect(await push(INDEXED)).toMatchObject({ code: 0 });
  const client = new ConvexClient(backend.url, { logger: false });
  const seen: unknown[] = [];
  let look = () => {};
  client.onUpdate(
    list,
    {},
    (n) => (seen.push(n), look()),
    (error) => (seen.push(error), look()),
  );
  await client.mutation(send, {});
  expect(await push(PLAIN)).toMatchObject({ code: 0 });
  const both = new Promise<void>((resolve) => (look = () => seen.at(-1) === 2 && resolve()));
  await client.mutation(send, {});
  await both;
  expect(seen.filter((result) => typeof result !== "number")).toEqual([]);
  await client.close();
});

test("environment variables that are set at the same time all stay", async () => {
  expect(await push(PLAIN)).toMatchObject({ code: 0 });
  const names = ["A", "B", "C"];
  const headers = { Authorization: `Convex ${backend.adminKey}` };
  const post = (path: string, body: unknown) =>
    fetch(backend.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  const set = (name: string) =>
    post("/api/update_environment_variables", { changes: [{ name, value: name }] });
  const answers = await Promise.all(names.map(set));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  const { env } = backend.runner.deployment.instances.get("")!;
  expect(names.map((name) => env.get(name))).toEqual(names);
});
