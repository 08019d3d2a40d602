/** Worlds that are started with evaluated modules, in sandboxes that earlier worlds have left. */
import { anyApi } from "convex/server";
import { beforeAll, describe, expect, test } from "vitest";
import { makeDeployment, PRELUDE } from "../functions/testing.js";
import type { SandboxPool } from "../functions/sandboxPool.js";
import type { Deployment } from "../functions/types.js";
import { MemoryStore } from "../store/memoryStore.js";
import { keepSandboxes } from "./keptSandboxes.js";
import { createWorld, type World } from "./world.js";

/** The random draws of two modules while they are imported, one of them in a chunk that both share, and of calls. */
const DRAWING = {
  "shared.ts": `export const drawn = [Math.random(), Date.now(), crypto.randomUUID()];`,
  "a.ts": `${PRELUDE}
    import { drawn } from "./shared.js";
    const own = Math.random();
    export const draw = mutation(async (ctx) => {
      console.count("drawn");
      const said = JSON.stringify([drawn, own, Math.random(), Date.now()]);
      await ctx.db.insert("said", { said });
      return said;
    });
    export const all = query(async (ctx) => (await ctx.db.query("said").collect()).length);`,
  "b.ts": `${PRELUDE}
    import { drawn } from "./shared.js";
    const own = Math.random();
    export const draw = action(async (ctx) => {
      const said = await ctx.runMutation(api.a.draw, {});
      await ctx.scheduler.runAfter(100, api.a.draw, {});
      await new Promise((resolve) => setTimeout(resolve, 10));
      return JSON.stringify([said, drawn, own, Math.random()]);
    });`,
  "crash.ts": `${PRELUDE}
    let visitor = null;
    /** Returns the name of the earlier call in this context, and stays in it until a row is there. */
    export const stay = action(async (ctx, { name }) => {
      const before = visitor;
      visitor = name;
      while ((await ctx.runQuery(api.a.all, {})) === 0) await new Promise((go) => setTimeout(go, 50));
      visitor = null;
      return before;
    });`,
};

let deployment: Deployment;

beforeAll(async () => {
  deployment = await makeDeployment({ "": DRAWING });
});

async function open(sandboxes: SandboxPool, seed = 1, given = deployment): Promise<World> {
  return await createWorld({ seed, trace: true, deployment: given, runner: { sandboxes } });
}

/** Calls in this order, with a crash between, and gives the digest of all that happened. */
async function play(
  sandboxes: SandboxPool,
  seed: number,
  paths = ["a:draw", "b:draw"],
): Promise<string> {
  const world = await open(sandboxes, seed);
  const said: unknown[] = [];
  for (const path of paths) said.push(await world.call(path));
  await world.restartBackend({ downMs: 20 });
  said.push(await Promise.all([world.call("b:draw"), world.call("a:draw"), world.call("b:draw")]));
  await world.advance(1_000);
  said.push(await world.call("a:all"));
  await world.close();
  return JSON.stringify([world.trace.digest(), said]);
}

describe("a world in kept sandboxes", () => {
  test("happens the same as the first in the process, as the third, and with sandboxes of its own pool", async () => {
    const kept = keepSandboxes();
    const first = await play(kept, 1);
    // Of other worlds, in which other modules are called first.
    await play(kept, 2, ["b:draw", "a:draw", "b:draw"]);
    expect(await play(kept, 1)).toBe(first);
    expect(await play(keepSandboxes(), 1)).toBe(first);
    expect(await play(keepSandboxes({ contexts: "fresh" }), 1)).toBe(first);
    expect(await play(kept, 2)).not.toBe(first);
  });

  test("happens the same beside another one that runs at the same time in the same pool", async () => {
    const alone = await play(keepSandboxes(), 1);
    const kept = keepSandboxes();
    const [one, , two] = await Promise.all([play(kept, 1), play(kept, 2), play(kept, 1)]);
    expect([one, two]).toEqual([alone, alone]);
  });
});

describe("a sandbox", () => {
  test("in which a call of a crashed backend has stopped for ever is never used again", async () => {
    const kept = keepSandboxes();
    const world = await open(kept);
    void world.call("crash:stay", { name: "lost" }).catch(() => {});
    await world.advance(500);
    await world.restartBackend();
    await world.call("a:draw");
    expect(await world.call("crash:stay", { name: "second" })).toBeNull();
    await world.close();
    const next = await open(kept, 2);
    void next.call("crash:stay", { name: "lost too" }).catch(() => {});
    await next.advance(500);
    await next.close();
    const last = await open(kept, 3);
    await last.call("a:draw");
    expect(await last.call("crash:stay", { name: "third" })).toBeNull();
    await last.close();
  });
});

describe("an app that puts something else in the place of one of the language's objects", () => {
  const app = (patch: string, within: string) =>
    makeDeployment({
      "": {
        "a.ts": `${PRELUDE}
          ${patch}
          export const tell = query(() => [parseInt("1"), globalThis.parseInt("1")]);`,
        "b.ts": `${PRELUDE}
          export const patch = query(() => { ${within} });`,
      },
    });
  const PATCH = `globalThis.parseInt = () => 7;`;

  test("finds it everywhere, when it does so while it is imported", async () => {
    const world = await open(keepSandboxes(), 1, await app(PATCH, ""));
    expect(await world.call("a:tell")).toEqual([7, 7]);
    await world.close();
  });

  test("gets an error, when a call does so: the name goes on meaning the old one", async () => {
    const world = await open(keepSandboxes(), 1, await app("", PATCH));
    expect(await world.call("a:tell")).toEqual([1, 1]);
    const patching = async () => {
      await world.call("b:patch");
      await world.advance(10);
    };
    await expect(patching()).rejects.toThrow(/The global "parseInt" was changed by a call/);
    expect(await world.call("a:tell")).toEqual([1, 1]);
    await world.close();
  });
});

describe("a world's given deployment", () => {
  test("is there again after a restart, and its replacement after a later one", async () => {
    const version = (text: string, field: string) =>
      makeDeployment({
        "": {
          "schema.ts": `${PRELUDE} export default defineSchema({ rows: defineTable({ ${field}: v.optional(v.number()) }).index("by_${field}", ["${field}"]) });`,
          "m.ts": `${PRELUDE}
            export const add = mutation((ctx) => ctx.db.insert("rows", {}));
            export const tell = query(async (ctx) =>
              ["${text}", (await ctx.db.query("rows").withIndex("by_${field}").collect()).length]);`,
        },
      });
    const [old, young] = [await version("old", "a"), await version("young", "b")];
    const world = await createWorld({ seed: 1, deployment: old });
    await world.call("m:add");
    await world.restartBackend({ downMs: 100 });
    expect(await world.call("m:tell")).toEqual(["old", 1]);
    const seen: string[] = [];
    world.client().onUpdate(anyApi["m"]!["tell"]!, {}, ([text]: [string]) => seen.push(text));
    await world.advance(1_000);
    await world.install(young);
    await world.advance(1_000);
    expect(seen).toEqual(["old", "young"]);
    await world.restartBackend();
    expect(await world.call("m:tell")).toEqual(["young", 1]);
    await world.close();
  });

  test("is refused where existing rows do not match it, and nothing has changed", async () => {
    const table = (field: string) =>
      `${PRELUDE} export default defineSchema({ rows: defineTable({ n: ${field} }) });`;
    const m = `${PRELUDE} export const add = mutation((ctx, { n }) => ctx.db.insert("rows", { n }));`;
    const old = await makeDeployment({ "": { "schema.ts": table("v.number()"), "m.ts": m } });
    const young = await makeDeployment({ "": { "schema.ts": table("v.string()"), "m.ts": m } });
    const world = await createWorld({ seed: 1, deployment: old });
    await world.call("m:add", { n: 1 });
    await expect(world.install(young)).rejects.toThrow(/rows/);
    await world.restartBackend();
    await world.call("m:add", { n: 2 });
    await world.close();
  });

  test("works on a store that another world has left", async () => {
    const store = new MemoryStore();
    const first = await createWorld({ seed: 1, deployment, store });
    await first.call("a:draw");
    const { now } = first;
    await first.close();
    const second = await createWorld({ seed: 2, deployment, store, startMs: now() });
    expect(await second.call("a:all")).toBe(1);
    await second.call("a:draw");
    expect(await second.call("a:all")).toBe(2);
    await second.close();
  });
});
