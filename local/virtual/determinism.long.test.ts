import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { play } from "./fixtures/busy/play.js";
import { firstDifference } from "./trace.js";

const MAIN = fileURLToPath(new URL("./fixtures/busy/main.ts", import.meta.url));

async function playInAnotherProcess(seed: number): Promise<string> {
  const args = [
    "--no-warnings",
    "--experimental-vm-modules",
    "--import",
    "tsx",
    MAIN,
    String(seed),
  ];
  const env = { ...process.env, NODE_OPTIONS: "" };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return stdout.trim();
}

describe("a world in which everything happens at once", () => {
  let first: readonly string[];

  beforeAll(async () => {
    first = await play(1);
  });

  test("has conflicts, retries, failures, digests, requests, timers, a crash", () => {
    const all = first.join("\n");
    expect(all).toMatch(/conflicts=\d/);
    expect(all).toMatch(/failed: Uncaught Error: a multiple of seven/);
    expect(all).toMatch(/ends Action \/busy:look /);
    expect(all).toMatch(/ends Action \/busy:look2 /);
    expect(all).toMatch(/ends Mutation \/busy:note /);
    expect(all).toMatch(/message program/);
    expect(all).toMatch(/prints program 7 /);
    expect(all).toMatch(/sees \d/);
    expect(all).toMatch(/ outside \d/);
    expect(all).toMatch(/step read .*\n/);
    expect(first.length).toBeGreaterThan(900);
  });

  test("happens the same again with the same seed, byte for byte", async () => {
    expect(firstDifference(first, await play(1))).toBeNull();
  });

  test("happens the same in another process", async () => {
    const digest = createHash("sha256").update(first.join("\n")).digest("hex");
    expect(await playInAnotherProcess(1)).toBe(digest);
  });

  test("happens the same when nothing is carried from call to call, since no function relies on it", async () => {
    expect(firstDifference(first, await play(1, "fresh"))).toBeNull();
  });

  test("happens otherwise with another seed", async () => {
    const other = await play(2);
    expect(firstDifference(first, other)).not.toBeNull();
    expect(other.some((line) => line.includes("prints program 7 "))).toBe(true);
  });
});
