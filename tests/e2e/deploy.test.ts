/** The files of `example/deploy`: each is read as its program reads it, and the image's command runs as it stands. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { format } from "prettier";
import { afterEach, beforeEach, expect, test } from "vitest";
import { root } from "../support/paths.js";
import { start, type Program } from "../support/program.js";
import { withoutToml } from "../support/python.js";
import { GRACE_DEFAULT_MS } from "../../src/worker/limits.js";
import { KILL_AFTER_MS } from "../../src/worker/pool/limits.js";

const FOLDER = path.join(root, "example/deploy");
const read = (file: string) => readFileSync(path.join(FOLDER, file), "utf8");
const STOPS_WITHIN_S = (GRACE_DEFAULT_MS + KILL_AFTER_MS) / 1_000;

let folder: string;
let program: Program | undefined;
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), "conveyor-deploy-"))));
afterEach(async () => {
  await program?.interrupt();
  program = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** Instructions with their arguments; comments and empty lines left out. */
const instructions = read("Dockerfile")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => /^([A-Z]+) (.+)$/.exec(line)!.slice(1) as [string, string]);

/** In the form without a shell, which would keep SIGTERM to itself. */
const command = () =>
  JSON.parse(instructions.find(([name]) => name === "CMD")![1]) as [string, ...string[]];

/** An app whose packages are those of this repository, and whose worker is ready without a deployment. */
function newApp(): void {
  mkdirSync(path.join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(path.join(root, "node_modules/tsx"), path.join(folder, "node_modules/tsx"));
  symlinkSync(
    path.join(root, "dist/cli/main.js"),
    path.join(folder, "node_modules/.bin/convex-conveyor"),
  );
  const worker = path.join(root, "tests/support/pool/worker.ts");
  writeFileSync(path.join(folder, "worker.ts"), `import ${JSON.stringify(worker)};\n`);
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
}

const ENVIRONMENT = {
  CONVEX_URL: "http://127.0.0.1:1",
  CONVEYOR_TOKEN: `cvy_0123abcd_${"0".repeat(64)}`,
  POOL_MODES: "{}",
};

test("the Dockerfile installs before it copies the app, runs as a user without rights, and has one command", () => {
  expect(instructions.map(([name]) => name)).toEqual([
    ...["FROM", "WORKDIR", "ENV", "COPY", "RUN", "COPY", "USER", "CMD"],
  ]);
  expect(instructions[0]![1]).toMatch(/^node:(2[4-9])-slim$/);
  expect(instructions).toContainEqual(["USER", "node"]);
});

// Shows LF-40, L8.
test("the image's command starts its processes, and SIGTERM ends it with 0", async () => {
  newApp();
  const [file, ...args] = command();
  // As npm makes it.
  execFileSync("chmod", ["+x", path.join(root, "dist/cli/main.js")]);
  program = start(path.join(folder, file), args, ENVIRONMENT, folder);
  const ready = (id: number) =>
    program!.prints(new RegExp(`:${id} \\(pid \\d+\\) waiting`), 30_000);
  await Promise.all([ready(1), ready(2)]);
  program.kill("SIGTERM");
  const { code, output } = await program.ended;
  expect(code).toBe(0);
  expect(output.match(/has ended \(stopped, code 0\)/g)).toHaveLength(2);
}, 60_000);

test("the image's command without its variables ends with 1 and their names", async () => {
  newApp();
  const [file, ...args] = command();
  const none = { CONVEX_URL: "", CONVEX_SELF_HOSTED_URL: "", CONVEYOR_TOKEN: "" };
  program = start(path.join(folder, file), args, none, folder);
  const { code, output } = await program.ended;
  expect(code).toBe(1);
  expect(output).toMatch(/CONVEX_URL[^]*CONVEYOR_TOKEN/);
});

// Shows L8.
test("the compose file is YAML, needs both variables, and waits until the processes have stopped", async () => {
  const text = read("compose.yaml");
  expect(await format(text, { parser: "yaml" })).toBe(text);
  expect(text).toMatch(/CONVEX_URL: \$\{CONVEX_URL:\?[\s\S]*CONVEYOR_TOKEN: \$\{CONVEYOR_TOKEN:\?/);
  const [, seconds] = /stop_grace_period: (\d+)s\n/.exec(text)!;
  expect(Number(seconds)).toBeGreaterThan(STOPS_WITHIN_S);
});

// Shows L8.
test.skipIf(withoutToml())(
  "the recipe for Fly is TOML, and waits until the processes have stopped",
  () => {
    const parse = "import json, sys, tomllib; print(json.dumps(tomllib.load(sys.stdin.buffer)))";
    const { stdout } = spawnSync("python3", ["-c", parse], {
      input: read("fly.toml"),
      encoding: "utf8",
    });
    const fly = JSON.parse(stdout) as Record<string, any>;
    expect(fly).toMatchObject({ kill_signal: "SIGTERM", build: { dockerfile: "Dockerfile" } });
    expect(parseInt(fly["kill_timeout"] as string, 10)).toBeGreaterThan(STOPS_WITHIN_S);
    expect(fly).not.toHaveProperty("http_service");
  },
);

// Shows L8.
test.skipIf(!existsSync("/usr/bin/systemd-analyze"))(
  "the unit is one that systemd takes, and waits until the processes have stopped",
  () => {
    newApp();
    const text = read("conveyor-worker.service");
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(text)!;
    expect(Number(seconds)).toBeGreaterThan(STOPS_WITHIN_S);
    const unit = path.join(folder, "conveyor-worker.service");
    writeFileSync(unit, text.replaceAll("/srv/app", folder));
    const verify = () => {
      const { stdout, stderr } = spawnSync("systemd-analyze", ["verify", unit], {
        encoding: "utf8",
      });
      // Other units of the machine are none of ours.
      return `${stdout}${stderr}`.split("\n").filter((line) => line.includes("conveyor-worker"));
    };
    expect(verify()).toEqual([]);
    writeFileSync(
      unit,
      text.replaceAll("/srv/app", folder).replace("KillMode=mixed", "KillMode=odd"),
    );
    expect(verify()).not.toEqual([]);
  },
);
