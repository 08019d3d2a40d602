/**
 * A thread's program as one text. Made once per process, by esbuild from the sources here, so that a thread needs no
 * loader for TypeScript and starts in milliseconds, under any loader of the backend.
 */
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

const FOLDER = path.dirname(fileURLToPath(import.meta.url));
const bundled = new Map<string, Promise<string>>();

/** The program that runs functions. */
export function guestProgram(): Promise<string> {
  return programOf(path.join(FOLDER, "guest.ts"));
}

/** `entry` is a file's path. */
export function programOf(entry: string): Promise<string> {
  const known = bundled.get(entry);
  if (known !== undefined) return known;
  const program = bundle(entry);
  bundled.set(entry, program);
  return program;
}

/** In a thread of its own: esbuild refuses to run beside a simulated browser, as tests of pages have one. */
const BUNDLER = `
  const { parentPort, workerData } = require("node:worker_threads");
  require(workerData.esbuild).build(workerData.options)
    .then((result) => parentPort.postMessage(result.outputFiles[0].text));
`;

function bundle(entry: string): Promise<string> {
  const options = {
    absWorkingDir: FOLDER,
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    target: "node20",
    // A text has no place of its own: modules that ask for theirs get that of the sources.
    define: {
      "import.meta.url": JSON.stringify(pathToFileURL(path.join(FOLDER, "../globals.ts")).href),
    },
  };
  const esbuild = createRequire(import.meta.url).resolve("esbuild");
  return new Promise((resolve, reject) => {
    const worker = new Worker(BUNDLER, {
      eval: true,
      execArgv: [],
      workerData: { esbuild, options },
    });
    worker.once("message", (text: string) => {
      resolve(text);
      void worker.terminate();
    });
    worker.once("error", reject);
  });
}
