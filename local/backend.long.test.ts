import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConvexClient } from "convex/browser";
import { afterEach, describe, expect, test } from "vitest";
import { startBackend } from "./backend.js";
import { wallEnvironment, type Environment } from "./environment.js";
import { LOG_POLL_MS } from "./server/limits.js";
import { runProgram, type Program } from "./testing.js";

describe("a backend in this process", () => {
  test("takes any free port, and takes no connections on it when it is closed", async () => {
    const backend = await startBackend({ quiet: true });
    const port = Number(new URL(backend.url).port);
    expect(await (await fetch(`${backend.url}/instance_name`)).text()).toBe("conveyor-local");
    await expect(startBackend({ port, quiet: true })).rejects.toMatchObject({ code: "EADDRINUSE" });
    await backend.close();
    await backend.close();
    await expect(fetch(`${backend.url}/instance_name`)).rejects.toThrow();
  });

  test("closes though clients are connected and a reader of logs waits", async () => {
    let begun: () => void;
    const waiting = new Promise<void>((resolve) => (begun = resolve));
    const timer: Environment["timer"] = (ms, ring) => {
      if (ms === LOG_POLL_MS) begun();
      return wallEnvironment.timer(ms, ring);
    };
    const backend = await startBackend({ quiet: true, env: { ...wallEnvironment, timer } });
    const client = new ConvexClient(backend.url, { logger: false });
    const headers = { Authorization: `Convex ${backend.adminKey}` };
    const logs = fetch(`${backend.url}/api/stream_function_logs?cursor=1`, { headers });
    // It has to have begun to wait: only then is there a request to answer.
    await waiting;
    await backend.close();
    expect(await (await logs).json()).toMatchObject({ entries: [] });
    await client.close();
  });

  test("makes its admin key from its own randomness, unless it is given one", async () => {
    const keys = new Set<string>();
    for (const adminKey of [undefined, undefined, "mine"]) {
      const backend = await startBackend({ quiet: true, ...(adminKey ? { adminKey } : {}) });
      keys.add(backend.adminKey);
      await backend.close();
    }
    expect(keys.size).toBe(3);
    expect(keys).toContain("mine");
  });
});

describe("npm run backend", () => {
  const started: Program[] = [];
  afterEach(() => {
    for (const { child } of started.splice(0)) child.kill("SIGKILL");
  });

  function run(...args: string[]): Program {
    const program = runProgram(...args);
    started.push(program);
    return program;
  }

  test("prints the CLI's variables, ready to paste, and stops cleanly on SIGTERM", async () => {
    const program = run("--port", "0", "--admin-key", "local|abc");
    const [, url] = await program.printed(/CONVEX_SELF_HOSTED_URL='(\S+)'\n/);
    await program.printed(/CONVEX_SELF_HOSTED_ADMIN_KEY='local\|abc'\n/);
    const response = await fetch(`${url}/api/v1/get_canonical_urls`, {
      headers: { Authorization: "Convex local|abc" },
    });
    expect(await response.json()).toMatchObject({ convexCloudUrl: url });
    program.child.kill("SIGTERM");
    expect(await program.exited).toBe(0);
  });

  test("refuses a port that is taken, says so and how to go on", async () => {
    const backend = await startBackend({ quiet: true });
    const port = new URL(backend.url).port;
    const program = run("--port", port);
    expect(await program.exited).toBe(1);
    expect(program.output.text).toContain(`Port ${port} on 127.0.0.1 is taken`);
    expect(program.output.text).toContain("--port");
    await backend.close();
  });

  test("keeps its data and its key in a folder, which a second one may not use meanwhile", async () => {
    const folder = await mkdtemp(join(tmpdir(), "conveyor-backend-"));
    const args = ["--port", "0", "--data", join(folder, "data")];
    const key = async (program: Program) =>
      (await program.printed(/CONVEX_SELF_HOSTED_ADMIN_KEY='(\S+)'\n/))[1];
    const first = run(...args);
    const given = await key(first);
    const second = run(...args);
    expect(await second.exited).toBe(1);
    expect(second.output.text).toContain(`in use by process ${first.child.pid} on `);
    expect(second.output.text).toContain("--data <folder>");
    first.child.kill("SIGKILL");
    await first.exited;
    expect(await key(run(...args))).toBe(given);
    await rm(folder, { recursive: true, force: true });
  });

  test("with --stats prints its counters on SIGUSR2 and goes on, and again when it stops", async () => {
    const program = run("--port", "0", "--class", "d1024", "--stats");
    const [, url] = await program.printed(/CONVEX_SELF_HOSTED_URL='(\S+)'\n/);
    await program.printed(/ADMIN_KEY='\S+'\n/);
    expect(program.output.text).toContain("Data: in memory");
    expect(program.output.text).not.toContain("billed");
    program.child.kill("SIGUSR2");
    await program.printed(/0 function calls that the platform would bill:[^]*\ntotal +0 .*\n/);
    expect((await fetch(`${url}/version`)).ok).toBe(true);
    program.child.kill("SIGINT");
    expect(await program.exited).toBe(0);
    expect(program.output.text.match(/\ntotal +0 /g)).toHaveLength(2);
  });

  test("tells its options and their defaults, and starts nothing", async () => {
    const help = run("--help");
    expect(await help.exited).toBe(0);
    expect(help.output.text).toContain("--port <number>      Where to listen. Default 3210;");
    expect(help.output.text).not.toContain("CONVEX_SELF_HOSTED_URL");
  });

  test("explains an option that it does not know, and a port that is none", async () => {
    const unknown = run("--prot", "1");
    const absurd = run("--port", "70000");
    expect(await unknown.exited).toBe(1);
    expect(unknown.output.text).toContain("--prot");
    expect(unknown.output.text).toContain("--admin-key <key>");
    expect(await absurd.exited).toBe(1);
    expect(absurd.output.text).toContain('from 0 to 65535, got "70000"');
  });
});
