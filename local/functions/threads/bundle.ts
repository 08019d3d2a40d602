/**
 * The threads' program as one text. Made once a process, by esbuild from the sources here, so that a thread needs no
 * loader for TypeScript and starts in milliseconds, whatever has loaded the backend.
 */
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const FOLDER = new URL("../", import.meta.url);
let bundled: Promise<string> | undefined;

export function guestProgram(): Promise<string> {
  return (bundled ??= bundle());
}

async function bundle(): Promise<string> {
  const result = await build({
    absWorkingDir: fileURLToPath(FOLDER),
    entryPoints: [fileURLToPath(new URL("threads/guest.ts", FOLDER))],
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    target: "node20",
    // A text has no place of its own: modules that ask for theirs are told that of the sources.
    define: { "import.meta.url": JSON.stringify(new URL("globals.ts", FOLDER).href) },
  });
  return result.outputFiles[0]!.text;
}
