/**
 * Neither a client nor an app's code can end the process. Shown on the real program, since a test runner catches by
 * itself the errors that would end a process.
 */
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { convex, copyFixture, PUSH } from "./push/testing.js";
import { runProgram, type Program } from "./testing.js";

/** Each throws or rejects where nothing in the function catches it. Port 9 has no listener: connecting is refused. */
const FAILING = `
import { actionGeneric as action, anyApi as api, mutationGeneric as mutation, queryGeneric as query } from "convex/server";
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const nowhere = () => fetch("http://127.0.0.1:9/").then((response) => response.text());
export const fine = query({ args: {}, handler: async () => 1 });
export const microtask = query({ args: {}, handler: async () => {
  void Promise.resolve().then(() => { throw new Error("boom"); });
  return 1;
} });
export const listener = query({ args: {}, handler: async () => {
  const target = new EventTarget();
  target.addEventListener("x", () => { throw new Error("boom"); });
  target.dispatchEvent(new Event("x"));
  return 1;
} });
export const abort = action({ args: {}, handler: async () => {
  const controller = new AbortController();
  controller.signal.addEventListener("abort", () => { throw new Error("boom"); });
  controller.abort();
  await wait(20);
  return 1;
} });
export const lateCatch = action({ args: {}, handler: async (ctx: any): Promise<any> => {
  const page = nowhere();
  await ctx.runQuery((api as any).failing.fine, {});
  await wait(200);
  return page.catch(() => "caught");
} });
export const floatingFetch = action({ args: {}, handler: async () => { void nowhere(); await wait(200); return 1; } });
export const badJson = action({ args: {}, handler: async () => { void new Response("{bad").json(); await wait(20); return 1; } });
export const badBody = action({ args: {}, handler: async () => {
  void new Request("http://x/", { method: "POST", body: "{" }).json();
  await wait(20);
  return 1;
} });
export const brokenStream = action({ args: {}, handler: async () => {
  const source = new ReadableStream({ start: (controller) => controller.error(new Error("boom")) });
  void source.pipeTo(new WritableStream());
  await wait(20);
  return 1;
} });
export const badDigest = query({ args: {}, handler: async () => {
  void crypto.subtle.digest("BAD", new Uint8Array(1)).then(() => 1);
  await crypto.subtle.digest("SHA-256", new Uint8Array(1));
  return 1;
} });
export const floating = mutation({ args: {}, handler: async () => { void Promise.reject(new Error("boom")); return 1; } });
`;

describe("the backend as a program", () => {
  let program: Program;
  let url: string;

  beforeAll(async () => {
    program = runProgram("--port", "0", "--admin-key", "local|abc");
    url = (await program.printed(/CONVEX_SELF_HOSTED_URL='(\S+)'\n/))[1]!;
    const app = await copyFixture();
    try {
      await writeFile(join(app.directory, "convex/failing.ts"), FAILING);
      const deployment = { url, adminKey: "local|abc" };
      const push = await convex(deployment, app.directory, ...PUSH, "--typecheck", "disable");
      expect(push.stderr).toContain("Convex functions ready!");
    } finally {
      await app.remove();
    }
  });
  afterAll(() => program.child.kill("SIGKILL"));

  const call = async (name: string) => {
    const response = await fetch(`${url}/api/function`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ path: `failing:${name}`, args: {} }),
    });
    return (await response.json()) as Record<string, unknown>;
  };

  /** Node reports an unhandled failure when the event loop turns, so the next answer may still come. */
  const stillServes = async () => {
    for (let turn = 0; turn < 3; turn++) {
      expect(await call("fine"), program.output.text).toMatchObject({ value: 1 });
    }
    expect(program.child.exitCode, program.output.text).toBe(null);
  };

  test.each([
    ["microtask", "boom"],
    ["listener", "boom"],
    ["abort", "boom"],
    ["lateCatch", "fetch failed"],
    ["floatingFetch", "fetch failed"],
    ["badJson", "JSON"],
    ["badBody", "JSON"],
    ["brokenStream", "boom"],
    ["badDigest", "Unrecognized algorithm"],
    ["floating", "boom"],
  ])("lives through app code that fails unseen (%s), and tells its caller", async (name, said) => {
    const result = await call(name);
    await stillServes();
    expect(result).toMatchObject({
      status: "error",
      errorMessage: expect.stringContaining(said) as unknown,
    });
  });

  test.each(["//", "http://[/sync", "/nope"])("lives through an upgrade of %s", async (target) => {
    expect(await upgrade(target)).toContain("404");
    await stillServes();
  });

  test("lives through clients that reset the connection while their upgrade is refused or taken", async () => {
    for (let round = 0; round < 60; round++) {
      await reset(round % 2 === 0 ? "/nope" : "/api/1.48.0/sync", round % 3);
    }
    await stillServes();
  });

  function request(target: string): string {
    const headers = [
      "Host: x",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ];
    return `GET ${target} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`;
  }

  /** The answer, up to the end of the connection. */
  function upgrade(target: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let answer = "";
      const socket = connect(Number(new URL(url).port), "127.0.0.1", () =>
        socket.write(request(target)),
      );
      socket.on("data", (data) => (answer += data.toString()));
      socket.on("close", () => resolve(answer));
      socket.on("error", reject);
    });
  }

  function reset(target: string, afterMs: number): Promise<void> {
    return new Promise((resolve) => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1", () =>
        socket.write(request(target), () => setTimeout(() => socket.resetAndDestroy(), afterMs)),
      );
      socket.on("error", () => {});
      socket.on("close", () => resolve());
    });
  }
});
