/**
 * One app's code on `@convex-dev/workpool` and, with another import and another mount, on Conveyor: side by side in virtual
 * time, each does the same.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { linkPackage } from "../support/link.js";
import { root } from "../support/paths.js";
import { bundleApp } from "../../local/virtual/appBundle.js";
import { createWorld, type World } from "../../local/virtual/world.js";
import { APP } from "./packagesApp.js";

let world: World;

beforeAll(async () => {
  linkPackage(APP);
  const app = await bundleApp(APP, { inputs: [path.join(root, "dist")] });
  world = await createWorld({ seed: 1, runner: { contexts: "reused" } });
  await world.push(app);
});
afterAll(() => world?.close());

const read = (module: string) =>
  readFileSync(path.join(APP, `convex/${module}.ts`), "utf8").replace(/\s+/g, "");

test("an app moves by changing the import and the mount", () => {
  const moved = read("theirs")
    .replace("@convex-dev/workpool", "convex-conveyor/workpool")
    .replaceAll("theirs", "ours");
  expect(read("ours").replaceAll(/,(?=[)}\]])/g, "")).toBe(moved.replaceAll(/,(?=[)}\]])/g, ""));
});

describe.each(["theirs", "ours"])("%s", (pool) => {
  const call = async (name: string, args: object = {}): Promise<any> =>
    await world.call(`${pool}:${name}`, args);
  const look = async (what: string): Promise<any[]> => await call("look", { what });
  const told = async (): Promise<any[]> =>
    (await look("told")).map((line: string) => JSON.parse(line));
  /** The callbacks about one address, once there are any. */
  const toldOf = async (to: string): Promise<any[]> =>
    (await told()).filter(({ context }) => context?.to === to || context === to);
  /** Longer than anything here takes. */
  const settle = () => world.advance(20_000);
  const stateOf = async (id: string) => (await call("status", { ids: [id] })).one;

  // Shows WP-23.
  test("onComplete gets an action's result with its context, once, and its status goes from pending over running to finished", async () => {
    const id = await call("enqueue", { mail: { to: "ann@a", ms: 3_000 } });
    expect(await stateOf(id)).toEqual({ state: "pending", previousAttempts: 0 });
    await world.advance(2_000);
    expect(await stateOf(id)).toEqual({ state: "running", previousAttempts: 0 });
    await settle();
    expect(await stateOf(id)).toEqual({ state: "finished" });
    expect(await toldOf("ann@a")).toEqual([
      {
        context: { to: "ann@a" },
        result: { kind: "success", returnValue: { to: "ann@a", attempt: 1 } },
      },
    ]);
    expect(await look("ids")).toContain(id);
  });

  test("an action that returns nothing has succeeded with null", async () => {
    await call("enqueue", { mail: { to: "nil@a", empty: true } });
    await settle();
    expect(await toldOf("nil@a")).toMatchObject([
      { result: { kind: "success", returnValue: null } },
    ]);
  });

  // Shows WP-21, WP-24.
  test("an action that fails is tried again as the pool says, and is pending in between", async () => {
    const id = await call("enqueue", { mail: { to: "bob@a", fails: 2 } });
    await settle();
    expect(await stateOf(id)).toEqual({ state: "finished" });
    expect(await look("attempts of bob@a")).toHaveLength(3);
    expect(await toldOf("bob@a")).toMatchObject([
      { result: { kind: "success", returnValue: { attempt: 3 } } },
    ]);
  });

  test("after the last attempt it has failed, with its error's message", async () => {
    await call("enqueue", { mail: { to: "eve@a", fails: 9 } });
    await settle();
    expect(await look("attempts of eve@a")).toHaveLength(3);
    const [{ result }] = await toldOf("eve@a");
    expect(result.kind).toBe("failed");
    expect(result.error).toMatch(/The mail server refused eve@a\.$/m);
    expect(result.error).not.toMatch(/not retried/);
  });

  // Shows WP-22.
  test("one that says that no retry helps is not tried again", async () => {
    await call("enqueue", { mail: { to: "nobody" } });
    await settle();
    expect(await look("attempts of nobody")).toHaveLength(1);
    expect(await toldOf("nobody")).toEqual([
      { context: { to: "nobody" }, result: { kind: "failed", error: "Invalid email address" } },
    ]);
  });

  test("onComplete may enqueue again, with a retry rule of that work's own and another onComplete", async () => {
    await call("enqueue", { mail: { to: "dan@a", fails: 9 }, retry: false, again: true });
    await settle();
    expect(await look("attempts of dan@a")).toHaveLength(1);
    expect(await toldOf("dan@a")).toMatchObject([
      { context: { to: "dan@a", again: true }, result: { kind: "failed" } },
      { context: "dan@a", result: { kind: "success", returnValue: { to: "again-dan@a" } } },
    ]);
  });

  // Shows WP-24.
  test("excluded ends have no callback, and all other ends have one", async () => {
    await call("enqueue", { mail: { to: "x@a" }, exclude: ["success"] });
    await call("enqueue", { mail: { to: "y@a", fails: 9 }, retry: false, exclude: ["success"] });
    await settle();
    expect(await look("attempts of x@a")).toHaveLength(1);
    expect(await toldOf("x@a")).toEqual([]);
    expect(await toldOf("y@a")).toMatchObject([{ result: { kind: "failed" } }]);
  });

  // Shows WP-17, WP-38.
  test("mutations and queries are run, alone and in batches; a mutation that throws has written nothing", async () => {
    const before = (await told()).length;
    await call("enqueueOthers");
    await settle();
    expect((await look("booked")).sort()).toEqual(["a@b", "c@d"]);
    const answers = (await told()).slice(before);
    const ofContext = (context: unknown) =>
      answers.filter((one) => one.context === context).map(({ result }) => result);
    expect(ofContext("none")).toEqual([{ kind: "success", returnValue: null }]);
    expect(ofContext(1)).toEqual([
      { kind: "failed", error: expect.stringContaining("No guest to book for.") },
    ]);
    expect(ofContext(null)).toHaveLength(3);
    expect(ofContext(null)).toContainEqual({ kind: "success", returnValue: 0 });
  });

  // Shows WP-17.
  test("a batch from an action: as many ids as arguments, each run once", async () => {
    const ids = await call("enqueueMany", { count: 12 });
    expect(new Set(ids).size).toBe(12);
    await settle();
    for (let n = 0; n < 12; n += 1) expect(await look(`attempts of ${n}@many`)).toHaveLength(1);
    const { all } = await call("status", { ids });
    expect(all).toEqual(ids.map(() => ({ state: "finished" })));
  });

  test("work that is canceled before its time never runs, and has its callback", async () => {
    const id = await call("enqueue", { mail: { to: "late@a" }, runAfter: 3_600_000 });
    expect(await stateOf(id)).toEqual({ state: "pending", previousAttempts: 0 });
    await call("cancel", { id });
    await call("cancel", { id });
    await settle();
    expect(await stateOf(id)).toEqual({ state: "finished" });
    expect(await toldOf("late@a")).toEqual([
      { context: { to: "late@a" }, result: { kind: "canceled" } },
    ]);
    expect(await look("attempts of late@a")).toEqual([]);
  });

  // Shows WP-10.
  test.each([
    { what: "succeeds", mail: {}, retry: true, kind: "success" },
    { what: "fails with attempts left", mail: { fails: 9 }, retry: true, kind: "canceled" },
    { what: "fails for the last time", mail: { fails: 9 }, retry: false, kind: "failed" },
  ])(
    "work that is canceled while it runs, and $what, ends as $kind",
    async ({ mail, retry, kind }) => {
      const to = `${kind}@cancel`;
      const id = await call("enqueue", { mail: { to, ms: 4_000, ...mail }, retry });
      await world.advance(2_000);
      await call("cancel", { id });
      await settle();
      expect(await look(`attempts of ${to}`)).toHaveLength(1);
      expect((await toldOf(to)).map(({ result }) => result.kind)).toEqual([kind]);
    },
  );

  test("cancelAll goes on by itself, a few at a time", async () => {
    const ids = [];
    for (let n = 0; n < 5; n += 1) {
      ids.push(await call("enqueue", { mail: { to: `${n}@all` }, runAfter: 3_600_000 }));
    }
    await call("cancelAll", { limit: 2 });
    await settle();
    const { all } = await call("status", { ids });
    expect(all).toEqual(ids.map(() => ({ state: "finished" })));
    for (let n = 0; n < 5; n += 1) {
      expect(await toldOf(`${n}@all`)).toMatchObject([{ result: { kind: "canceled" } }]);
    }
  });

  // Shows WP-19.
  test("a time long past is now, and one beyond the scheduler's range waits", async () => {
    const at = world.clock.now();
    const past = await call("enqueueAt", { to: "past@a", runAt: 0 });
    const future = await call("enqueueAt", { to: "future@a", runAt: at + 9 * 365 * 86_400_000 });
    await settle();
    expect(await stateOf(past)).toEqual({ state: "finished" });
    expect(await stateOf(future)).toEqual({ state: "pending", previousAttempts: 0 });
    expect(await look("attempts of past@a")).toHaveLength(1);
    await call("cancel", { id: future });
  });

  test("a pool of none is a pause, and one of one runs its work one by one", async () => {
    await call("tune", { maxParallelism: 0 });
    const ids = [];
    for (let n = 0; n < 4; n += 1) ids.push(await call("doSomethingAndCount"));
    await settle();
    expect(await look("count")).toEqual([]);
    expect(await call("tunedStatus", { id: ids[0] })).toMatchObject({ state: "pending" });
    await call("tune", { maxParallelism: 1 });
    await settle();
    expect(await look("count")).toEqual(["1", "2", "3", "4"]);
  });
});

describe("together with other pools in one app", () => {
  const call = async (name: string, args: object = {}): Promise<any> =>
    await world.call(`together:${name}`, args);
  const lines = async (about: string) => await world.call("lines:about", { about });

  // Shows WP-39.
  test("a workflow has a pool do something, and goes on when its onComplete says so", async () => {
    await call("begin", { what: "chair" });
    await world.advance(20_000);
    expect(await lines("order of chair")).toEqual(["a chair"]);
    expect(await lines("made")).toEqual(["chair"]);
  });

  test("a component has pools of its own, each with its own work, and runs its own functions in them", async () => {
    const letter = await call("send", { to: "ann", parcel: false });
    await call("send", { to: "bob", parcel: true });
    await world.advance(20_000);
    const { log, state } = await call("mailed", { id: letter });
    expect([...log].sort()).toEqual(["letter: carried to ann", "parcel: carried to bob"]);
    expect(state).toEqual(["finished", "finished"]);
  });

  test("a component's enqueue belongs to its caller's transaction", async () => {
    await expect(call("send", { to: "nobody", parcel: false, fail: true })).rejects.toThrow(
      "changed its mind",
    );
    await world.advance(20_000);
    const { log } = await call("mailed", { id: "none" });
    expect(log.join()).not.toContain("nobody");
  });

  // Shows WP-17.
  test("a component's pool runs a function of the app by its handle", async () => {
    await call("sendOwn", { what: "table" });
    await world.advance(20_000);
    expect((await lines("made")).slice(-2)).toEqual(["asked for table", "table"]);
  });
});
