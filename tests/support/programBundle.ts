/**
 * A program of this repository as one file of JavaScript, for processes whose time counts. A loader of single files names each
 * function anew whenever it is made (esbuild's `keepNames`): without that a simulation takes a tenth less time.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build, transform, type Plugin } from "esbuild";
import { root } from "./paths.js";

/** Packages are found from there. */
const FOLDER = path.join(root, "node_modules/.cache/conveyor");

/** `entry` is a file. Returns the path of the bundle; packages of npm are not part of it. */
export async function bundleProgram(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    absWorkingDir: root,
    bundle: true,
    write: false,
    outfile: path.join(FOLDER, "program.mjs"),
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    sourcemap: "inline",
    plugins: [ownPlaces],
    logLevel: "silent",
  });
  const { text } = outputFiles[0]!;
  const name = `${path.parse(entry).name}-${createHash("sha256").update(text).digest("hex").slice(0, 16)}.mjs`;
  const file = path.join(FOLDER, name);
  await mkdir(FOLDER, { recursive: true });
  // Whole or not at all: other runs may write it at the same time.
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, text);
  await rename(unfinished, file);
  return file;
}

/** A file finds others beside itself by its own address. */
const ownPlaces: Plugin = {
  name: "own places",
  setup(bundling) {
    bundling.onLoad({ filter: /\.tsx?$/ }, async ({ path: file }) => {
      const source = await readFile(file, "utf8");
      if (!source.includes("import.meta.")) return null;
      const { code } = await transform(source, {
        loader: "ts",
        define: {
          "import.meta.url": JSON.stringify(pathToFileURL(file).href),
          "import.meta.filename": JSON.stringify(file),
          "import.meta.dirname": JSON.stringify(path.dirname(file)),
        },
        sourcefile: file,
        sourcemap: "inline",
      });
      return { contents: code, loader: "js" };
    });
  },
};
