import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bundleApp, fingerprint } from "./appBundle.js";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "bundle-"));
  await mkdir(path.join(folder, "convex"));
  await writeFile(path.join(folder, "convex/a.ts"), "export const a = 1;");
});

afterEach(() => rm(folder, { recursive: true }));

test("a bundle is kept under another name when a file is changed, added, renamed or taken away", async () => {
  const at = (name: string) => path.join(folder, "convex", name);
  const keys = [await fingerprint([folder])];
  await writeFile(at("a.ts"), "export const a = 2;");
  keys.push(await fingerprint([folder]));
  await writeFile(at("b.ts"), "");
  keys.push(await fingerprint([folder]));
  await rm(at("b.ts"));
  await writeFile(at("c.ts"), "");
  keys.push(await fingerprint([folder]));
  await writeFile(at("ab.ts"), "");
  keys.push(await fingerprint([folder]));
  expect(new Set(keys).size).toBe(5);
});

test("generated, hidden or installed files change nothing", async () => {
  const before = await fingerprint([folder]);
  for (const name of ["node_modules", "convex/_generated", ".git"]) {
    await mkdir(path.join(folder, name));
    await writeFile(path.join(folder, name, "x.js"), "1");
  }
  await writeFile(path.join(folder, ".env.local"), "A=1");
  expect(await fingerprint([folder])).toBe(before);
});

test("an input that is missing is another than one that is there", async () => {
  const input = path.join(folder, "extra.json");
  const before = await fingerprint([folder, input]);
  await writeFile(input, "{}");
  expect(await fingerprint([folder, input])).not.toBe(before);
});

test("a bundle that is kept is given without the CLI", async () => {
  const cache = path.join(folder, "..", `${path.basename(folder)}-cache`);
  await mkdir(cache);
  const key = await fingerprint([folder, path.resolve("package-lock.json")]);
  const kept = { startPush: { kept: true } };
  await writeFile(path.join(cache, `${key}.json`), JSON.stringify(kept));
  const bundle = await bundleApp(folder, { cache });
  expect(bundle).toEqual(kept);
  await rm(cache, { recursive: true });
  // Once in a process: neither read again nor made.
  expect(await bundleApp(folder, { cache })).toBe(bundle);
});
