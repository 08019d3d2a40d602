/** The official CLI, unmodified, against the local backend: one process a run, one after the other. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBackend, type Backend } from "../backend.js";
import { convex, copyFixture, FIXTURE, PUSH, type FixtureApp } from "./testing.js";

const api = anyApi;

describe.sequential("the official CLI", () => {
  let backend: Backend;
  let app: FixtureApp;
  const run = (...args: string[]) => convex(backend, app.directory, ...args);

  beforeAll(async () => {
    backend = await startBackend({ quiet: true });
    app = await copyFixture();
  });

  afterAll(async () => {
    await backend.close();
    await app.remove();
  });

  const GENERATED = [
    ...["api.d.ts", "api.js", "dataModel.d.ts", "server.d.ts", "server.js"].map(
      (file) => `convex/_generated/${file}`,
    ),
    ...["api.ts", "component.ts", "dataModel.ts", "server.ts"].map(
      (file) => `counter/_generated/${file}`,
    ),
  ];

  async function expectGeneratedAsCommitted(): Promise<void> {
    for (const file of GENERATED) {
      const written = await readFile(join(app.directory, file), "utf8");
      const committed = await readFile(join(FIXTURE, file), "utf8");
      expect(written, file).toBe(committed);
    }
  }

  test("codegen writes the same code as is committed, and makes nothing visible", async () => {
    await writeFile(join(app.directory, "convex/_generated/api.d.ts"), "");
    const codegen = await run("codegen");
    expect(codegen.stderr).not.toContain("✖");
    expect(codegen.code).toBe(0);
    await expectGeneratedAsCommitted();
    expect(backend.runner.deployment.instances.size).toBe(0);
  });

  test("codegen of one component needs no app around it", async () => {
    await writeFile(join(app.directory, "counter/_generated/component.ts"), "");
    const codegen = await run("codegen", "--component-dir", "./counter");
    expect(codegen).toMatchObject({ code: 0 });
    await expectGeneratedAsCommitted();
    expect(backend.runner.deployment.instances.size).toBe(0);
  });

  test("dev --once deploys the app and each mounting of its component", async () => {
    const dev = await run(...PUSH);
    expect(dev.stderr).toContain("Convex functions ready!");
    expect(dev.stderr).toContain("[+] messages.by_author");
    expect(dev.stderr).toContain("Installed component counter.");
    expect(dev.code).toBe(0);
    const instances = [...backend.runner.deployment.instances];
    expect(instances.map(([namespace, { env }]) => [namespace, env.get("STEP")])).toEqual([
      ["", undefined],
      ["counter", "2"],
      ["visits", undefined],
    ]);
  });

  test("run calls internal functions and components' functions too, and prints their results", async () => {
    const sent = await run("run", "messages:send", '{"author":"ada","body":"hi"}');
    expect(sent.code).toBe(0);
    expect(JSON.parse(sent.stdout)).toMatch(/^[a-z0-9]{31,37}$/);
    const bumped = await run("run", "--component", "counter", "lib:bump", '{"name":"x"}');
    expect(bumped).toMatchObject({ code: 0, stdout: "2\n" });
    const cleared = await run("run", "messages:clear");
    expect(cleared).toMatchObject({ code: 0 });
  });

  test("data lists tables, and the rows of one, and ends", async () => {
    await run("run", "messages:send", '{"author":"lister","body":"shown"}');
    expect((await run("data")).stdout.split("\n")).toContain("messages");
    const rows = await run("data", "messages");
    expect(rows.code).toBe(0);
    expect(rows.stdout).toContain('"shown"');
    await run("run", "messages:clear");
  });

  test("run of a missing function lists the existing ones", async () => {
    const missing = await run("run", "messages:sned");
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain("messages:sned");
    expect(missing.stderr).toContain("• messages:send");
  });

  test("env set reaches running functions without a push; env get reads it back", async () => {
    const client = new ConvexHttpClient(backend.url, { logger: false });
    expect(await client.query(api["messages"]!["greet"]!, {})).toBe("hello");
    expect(await run("env", "set", "GREETING", "good day")).toMatchObject({ code: 0 });
    expect(await client.query(api["messages"]!["greet"]!, {})).toBe("good day");
    expect(await run("env", "get", "GREETING")).toMatchObject({ code: 0, stdout: "good day\n" });
  });

  test("deploy replaces changed functions, and tables keep their rows", async () => {
    const client = new ConvexHttpClient(backend.url, { logger: false });
    await client.mutation(api["messages"]!["send"]!, { author: "ada", body: "kept" });
    await edit("convex/messages.ts", '"hello"', '"moin"');
    await edit("convex/messages.ts", '"GREETING"', '"SALUTATION"');
    const deploy = await run("deploy", "--typecheck", "disable");
    expect(deploy.stderr).toContain("Deployed Convex functions to");
    expect(deploy.code).toBe(0);
    expect(await client.query(api["messages"]!["greet"]!, {})).toBe("moin");
    expect(await client.query(api["messages"]!["list"]!, { author: "ada" })).toMatchObject([
      { body: "kept" },
    ]);
  });

  test("a schema that the rows do not match is refused, and the old code goes on", async () => {
    await edit("convex/schema.ts", "body: v.string()", "body: v.number()");
    const push = await run(...PUSH, "--typecheck", "disable");
    expect(push.code).toBe(1);
    expect(push.stderr).toContain("Schema validation failed");
    expect(push.stderr).toContain("messages");
    await edit("convex/schema.ts", "body: v.number()", "body: v.string()");
    const client = new ConvexHttpClient(backend.url, { logger: false });
    await client.mutation(api["messages"]!["send"]!, { author: "ada", body: "still text" });
  });

  test("crons of crons.ts run once they are pushed", async () => {
    await writeFile(
      join(app.directory, "convex/crons.ts"),
      `import { cronJobs } from "convex/server";
       import { api } from "./_generated/api.js";
       const crons = cronJobs();
       crons.interval("tick", { hours: 1 }, api.messages.send, { author: "cron", body: "tick" });
       crons.daily("nightly", { hourUTC: 3 }, api.messages.send, { author: "cron", body: "tock" });
       export default crons;`,
    );
    const client = new ConvexHttpClient(backend.url, { logger: false });
    const messages = () => client.query(api["messages"]!["list"]!, { author: "cron" });
    const ticked = new Promise<void>((resolve) => {
      const stop = backend.runner.onCompletion(({ scheduled }) => {
        if (!scheduled) return;
        stop();
        resolve();
      });
    });
    expect(await run(...PUSH, "--typecheck", "disable")).toMatchObject({ code: 0 });
    await ticked;
    // An interval begins at once, a time of day in its time.
    expect(await messages()).toMatchObject([{ body: "tick" }]);
  });

  test("a module that throws when it is loaded is named, with its error", async () => {
    await writeFile(
      join(app.directory, "convex/broken.ts"),
      'export {};\nthrow new Error("not today");\n',
    );
    const push = await run(...PUSH, "--typecheck", "disable");
    expect(push.code).toBe(1);
    expect(push.stderr).toContain("Failed to analyze broken.js");
    expect(push.stderr).toContain("Error: not today");
  });

  test("a wrong admin key is refused with the remedy", async () => {
    const push = await convex({ ...backend, adminKey: "wrong" }, app.directory, ...PUSH);
    expect(push.code).toBe(1);
    expect(push.stderr).toContain("CONVEX_SELF_HOSTED_ADMIN_KEY");
  });

  async function edit(file: string, from: string, to: string): Promise<void> {
    const path = join(app.directory, file);
    const before = await readFile(path, "utf8");
    expect(before).toContain(from);
    await writeFile(path, before.replaceAll(from, to));
  }
});
