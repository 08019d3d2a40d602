import { afterEach, expect, test } from "vitest";
import { PRELUDE, startTestBackend, type TestBackend } from "./testing.js";

let backend: TestBackend;
afterEach(() => backend.stop());

const SOURCES = {
  "": {
    "app.ts": `${PRELUDE}
      export const add = mutation((ctx, { name }) => ctx.db.insert("rows", { name }));
      export const names = query(async (ctx) => (await ctx.db.query("rows").collect()).map((row) => row.name));
      export const addToChild = mutation((ctx, { name }) => ctx.runMutation(components.child.deep.lib.add, { name }));
      export const childNames = query((ctx) => ctx.runQuery(components.child.deep.lib.names));
      export const reachInternal = query((ctx) => ctx.runQuery(components.child.deep.lib.secret));
      export const reachGrandchild = query((ctx) => ctx.runQuery(components.grandchild.lib.names));
      export const readForeign = query((ctx, { id }) => ctx.db.get(id));
      export const passId = mutation(async (ctx) => ctx.runMutation(components.child.deep.lib.takesId, { id: await ctx.db.insert("rows", {}) }));
      export const handle = internalMutation((ctx) => createFunctionHandle(internal.app.append));
      export const append = internalMutation(async (ctx, { name }) => { await ctx.db.insert("rows", { name }); return "appended"; });
      export const callBack = mutation(async (ctx, { name }) =>
        ctx.runMutation(components.child.deep.lib.call, { handle: await createFunctionHandle(internal.app.append), name }));
      export const about = query((ctx) => ctx.meta.getFunctionMetadata());
      export default about;
      export const aboutChild = query((ctx) => ctx.runQuery(components.child.deep.lib.about));
      export const both = mutation(async (ctx) => {
        await ctx.db.insert("rows", { name: "app's" });
        await ctx.runMutation(components.child.deep.lib.add, { name: "child's" });
        throw new Error("neither");
      });`,
  },
  child: {
    "deep/lib.ts": `${PRELUDE}
      export const add = mutation((ctx, { name }) => ctx.db.insert("rows", { name }));
      export const names = query(async (ctx) => (await ctx.db.query("rows").collect()).map((row) => row.name));
      export const secret = internalQuery(() => "secret");
      export const takesId = mutation({ args: { id: v.id("rows") }, handler: () => "taken" });
      export const call = mutation((ctx, { handle, name }) => ctx.runMutation(handle, { name }));
      export const about = query(async (ctx) => ({ ...(await ctx.meta.getFunctionMetadata()), color: process.env.COLOR, app: process.env.APP }));
      export const page = query((ctx) => ctx.db.query("rows").paginate({ numItems: 1, cursor: null }));`,
  },
};

async function start(): Promise<void> {
  backend = await startTestBackend(SOURCES, { env: { child: { COLOR: "red" }, "": { APP: "1" } } });
}

test("a component's tables are its own, though they have the same name", async () => {
  await start();
  await backend.mutation("app:add", { name: "app" });
  await backend.mutation("app:addToChild", { name: "child" });
  expect(await backend.query("app:names")).toEqual(["app"]);
  expect(await backend.query("app:childNames")).toEqual(["child"]);
});

test("writes to both components are one transaction", async () => {
  await start();
  await expect(backend.mutation("app:both")).rejects.toThrow("neither");
  expect(await backend.query("app:names")).toEqual([]);
  expect(await backend.query("app:childNames")).toEqual([]);
});

test("an id of another component's table leads nowhere, and is no id to its validators", async () => {
  await start();
  const foreign = await backend.mutation("app:addToChild", { name: "child" });
  const own = await backend.mutation("app:add", { name: "app" });
  // Each component numbers its tables from the same number on, so the id is well formed and simply absent.
  expect(await backend.query("app:readForeign", { id: foreign })).toBeNull();
  expect(await backend.query("app:readForeign", { id: own })).toMatchObject({ name: "app" });
});

test("only public functions of a direct child are reachable", async () => {
  await start();
  await expect(backend.query("app:reachInternal")).rejects.toThrow(
    /Could not find public function for 'deep\/lib:secret' in component "child"/,
  );
  await expect(backend.query("app:reachGrandchild")).rejects.toThrow(
    /Child component "grandchild" not found. Mounted here: "child"/,
  );
});

test("a handle lets a component call back an internal function of the app, in the same transaction", async () => {
  await start();
  expect(await backend.mutation("app:callBack", { name: "called back" })).toBe("appended");
  expect(await backend.query("app:names")).toEqual(["called back"]);
});

test("a handle stays the same from push to push", async () => {
  await start();
  const before = await backend.mutation("app:handle");
  await backend.push(SOURCES);
  expect(await backend.mutation("app:handle")).toBe(before);
  expect(await backend.mutation("child::deep/lib:call", { handle: before, name: "later" })).toBe(
    "appended",
  );
});

test("a handle that is none is refused by name", async () => {
  await start();
  await expect(
    backend.mutation("child::deep/lib:call", { handle: "function://nothing", name: "" }),
  ).rejects.toThrow(/"function:\/\/nothing" is not a function handle of this deployment/);
});

test("a component knows its own name and its own variables only", async () => {
  await start();
  expect(await backend.query("app:about")).toMatchObject({ name: "app:about", componentPath: "" });
  expect(await backend.query("app:default")).toMatchObject({ name: "app" });
  expect(await backend.query("app:aboutChild")).toEqual({
    name: "deep/lib:about",
    componentPath: "child",
    type: "query",
    visibility: "public",
    color: "red",
  });
});

test("paginate is refused inside a component, as on the platform", async () => {
  await start();
  await expect(backend.query("child::deep/lib:page")).rejects.toThrow(
    /PaginationUnsupportedInComponents/,
  );
});

test("an internal function is absent to callers that may use public functions only", async () => {
  await start();
  await expect(backend.mutation("app:append", { name: "x" }, { publicOnly: true })).rejects.toThrow(
    "Could not find public function for 'app:append'. Did you forget to run `npx convex dev` or `npx convex deploy`?",
  );
});
