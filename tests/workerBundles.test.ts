/** `convex-conveyor/worker` as bundlers take it: one import path, and nothing of Node's where there is no Node. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { linkPackages } from "./support/link.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "conveyor-bundle-"));
  linkPackages(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function bundled(platform: "browser" | "neutral" | "node", conditions: string[] = []) {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: `export { Worker } from "convex-conveyor/worker";`,
      resolveDir: folder,
    },
    ...{ bundle: true, write: false, metafile: true, format: "esm", platform, conditions },
    ...(platform === "neutral" ? { mainFields: ["module", "main"] } : {}),
    absWorkingDir: folder,
    logLevel: "silent",
  });
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports);
  return {
    text: outputFiles[0]!.text,
    external: imported.filter(({ external }) => external).map((one) => one.path),
    inputs: Object.keys(metafile.inputs).filter((file) => file.includes("dist/worker/")),
  };
}

describe("the worker in a bundle", () => {
  // Shows LF-38, D25.
  test.each([
    ["a browser", "browser", []],
    ["an edge function", "neutral", ["workerd", "worker", "browser"]],
    ["a runtime that says nothing of itself", "neutral", []],
  ] as const)("for %s imports nothing of Node's", async (_, platform, conditions) => {
    const { text, external, inputs } = await bundled(platform, [...conditions]);
    expect(external).toEqual([]);
    expect(text).not.toMatch(/node:|require\("os"\)|\bprocess\.pid\b/);
    expect(inputs.some((file) => file.endsWith("worker/loop.js"))).toBe(true);
    expect(inputs.some((file) => file.endsWith("index.node.js"))).toBe(false);
  });

  // Shows D25.
  test.each([["node"], ["bun"], ["deno"]])(
    "for %s has the host's name and signals",
    async (name) => {
      // Bun and Deno take the condition `node` besides their own.
      const { external, text } = await bundled("node", name === "node" ? [] : [name]);
      expect(external).toContain("node:os");
      expect(text).toContain("SIGTERM");
    },
  );
});
