import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { wallEnvironment } from "../environment.js";
import type { Host } from "./host.js";
import { importHost } from "./importHost.js";
import { followContexts, sortRejections, watched } from "./rejections.js";
import { createSandbox } from "./sandbox.js";
import type { ModuleSource } from "./types.js";

function modules(
  sources: Record<string, string>,
  environment: ModuleSource["environment"] = "isolate",
) {
  return new Map(
    Object.entries(sources).map(([path, source]) => [path, { path, source, environment }]),
  );
}

test("a module finds its neighbours, and a shared one is evaluated once", async () => {
  const sandbox = createSandbox(
    modules({
      "a.js": `import { list } from "./_deps/shared.js"; list.push("a"); export { list };`,
      "deep/b.js": `import { list } from "../_deps/shared.js"; list.push("b"); export { list };`,
      "_deps/shared.js": `export const list = [];`,
    }),
  );
  const [a, b] = await Promise.all([sandbox.import("a.js"), sandbox.import("deep/b.js")]);
  expect(a["list"]).toBe(b["list"]);
  expect([...(a["list"] as string[])].sort()).toEqual(["a", "b"]);
});

test("modules that import each other in a circle are linked", async () => {
  const sandbox = createSandbox(
    modules({
      "a.js": `import { b } from "./b.js"; export const a = () => b() + 1;`,
      "b.js": `import { a } from "./a.js"; export const b = () => typeof a === "function" ? 1 : 0;`,
    }),
  );
  const { a } = (await sandbox.import("a.js")) as { a: () => number };
  expect(a()).toBe(2);
});

test("the error about a missing module names the importing module", async () => {
  const sandbox = createSandbox(modules({ "a.js": `import "./gone.js";` }));
  await expect(sandbox.import("a.js")).rejects.toThrow(
    /There is no module "gone.js" in the push, imported by "a.js"/,
  );
});

test("a module can import another while it is evaluated", async () => {
  const sandbox = createSandbox(
    modules({
      "a.js": `export const b = (await import("./b.js")).value;`,
      "b.js": `export const value = 3;`,
    }),
  );
  expect((await sandbox.import("a.js"))["b"]).toBe(3);
});

test("an exception while a module is evaluated reaches the code that imports it", async () => {
  const sandbox = createSandbox(modules({ "a.js": `throw new Error("broken at import")` }));
  await expect(sandbox.import("a.js")).rejects.toThrow("broken at import");
  await expect(sandbox.import("a.js")).rejects.toThrow("broken at import");
});

test("a digest's buffer is an ArrayBuffer inside too", async () => {
  const sandbox = createSandbox(
    modules({
      "a.js": `
        const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode("abc"));
        export const same = digest instanceof ArrayBuffer;
        export const first = new Uint8Array(digest)[0];`,
    }),
  );
  expect(await sandbox.import("a.js")).toMatchObject({ same: true, first: 0xba });
});

test("timers and the network are refused while modules are imported, with an error of the sandbox", async () => {
  const sandbox = createSandbox(
    modules({
      "a.js": `
        const attempt = (run) => { try { run(); return "allowed"; } catch (e) { return e instanceof Error ? e.message : "foreign"; } };
        export const timer = attempt(() => setTimeout(() => {}, 1));
        export const network = attempt(() => fetch("http://127.0.0.1/"));`,
    }),
  );
  const { timer, network } = await sandbox.import("a.js");
  expect(timer).toMatch(/Can't use setTimeout at import time/);
  expect(network).toMatch(/Can't use fetch at import time/);
});

test("process.env holds the given variables and none of the machine's", async () => {
  const sandbox = createSandbox(
    modules({ "a.js": `export const names = Object.keys(process.env).join();` }),
    { env: new Map([["COLOR", "red"]]) },
  );
  expect((await sandbox.import("a.js"))["names"]).toBe("COLOR");
});

test("Node's modules are there for modules that ask for Node, and a refusal elsewhere names them", async () => {
  const source = {
    "a.js": `import { createHash } from "crypto"; import path from "node:path";
      export const hash = createHash("sha256").update("abc").digest("hex").slice(0, 4);
      export const joined = path.join("a", "b"); export const env = Object.keys(process.env).length;`,
  };
  const node = createSandbox(modules(source, "node"));
  expect(await node.import("a.js")).toMatchObject({ hash: "ba78", joined: "a/b", env: 0 });
  await expect(createSandbox(modules(source)).import("a.js")).rejects.toThrow(/"use node"/);
});

test("a system call after a call's end is refused, and its failure is not the next call's", async () => {
  const stopSorting = sortRejections();
  const stopFollowing = followContexts();
  const said: string[] = [];
  let answer: (value: string) => void = () => {};
  const hostOf = (name: string): Host => ({
    ...importHost(wallEnvironment),
    log: (_, text) => void said.push(`${name} logs ${text}`),
    asyncSyscall: () => new Promise((resolve) => (answer = resolve)),
    rejected: (reason) => void said.push(`${name} fails: ${String(reason)}`),
  });
  const sandbox = createSandbox(
    modules({
      "a.js": `
        export async function leave() {
          await Convex.asyncSyscall("answered late", "");
          console.log("late");
          await Convex.asyncSyscall("asked late", "");
        }
        export const say = () => console.log("on time");`,
    }),
  );
  const { leave, say } = (await sandbox.import("a.js")) as Record<string, () => void>;
  const [first, second] = [hostOf("first"), hostOf("second")];
  sandbox.enter(first);
  watched(first, leave!);
  sandbox.leave();
  sandbox.enter(second);
  watched(second, say!);
  answer("");
  await setImmediate();
  expect(said).toEqual([
    "second logs 'on time'",
    expect.stringMatching(
      /^first fails: Error: "asked late" was called outside of a running function/,
    ),
  ]);
  stopFollowing();
  stopSorting();
});
