/**
 * Writes every `_generated` folder with the official CLI against a local backend of its own.
 * With `--check`, fails if that changed anything: the committed files must equal the files that the CLI writes.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import build from "./support/build.js";
import { convex } from "../local/convexCli.js";
import { linkPackage } from "../tests/support/link.js";
import { root } from "../tests/support/paths.js";
import { startBackend } from "../local/backend.js";

const GENERATED = [
  "src/component/_generated",
  "example/convex/_generated",
  "tests/support/app/convex/_generated",
  "tests/dashboard/app/convex/_generated",
  "tests/packages/app/convex/_generated",
  "tests/packages/app/mailer/_generated",
  "local/conformance/app/convex/_generated",
  "local/conformance/app/child/_generated",
  "local/conformance/app/child/grandchild/_generated",
].map((folder) => path.join(root, folder));

function contents(): Map<string, string> {
  const files = GENERATED.filter((folder) => existsSync(folder)).flatMap((folder) =>
    readdirSync(folder).map((name) => path.join(folder, name)),
  );
  return new Map(files.map((file) => [file, readFileSync(file, "utf8")]));
}

function changed(before: Map<string, string>, after: Map<string, string>): string[] {
  const files = new Set([...before.keys(), ...after.keys()]);
  return [...files].filter((file) => before.get(file) !== after.get(file)).sort();
}

const before = contents();
const backend = await startBackend({ port: 0, quiet: true });
try {
  // The component first: the apps' types come from its build.
  await convex(root, ["codegen", "--component-dir", "./src/component"], backend);
  await build();
  await convex(root, ["codegen"], backend);
  linkPackage(path.join(root, "tests/support/app"));
  await convex(path.join(root, "tests/support/app"), ["codegen"], backend);
  linkPackage(path.join(root, "tests/dashboard/app"));
  await convex(path.join(root, "tests/dashboard/app"), ["codegen"], backend);
  linkPackage(path.join(root, "tests/packages/app"));
  await convex(path.join(root, "tests/packages/app"), ["codegen"], backend);
  await convex(path.join(root, "local/conformance/app"), ["codegen"], backend);
} finally {
  await backend.close();
}

const files = changed(before, contents()).map((file) => path.relative(root, file));
if (files.length > 0) console.log(`Written:\n  ${files.join("\n  ")}`);
if (process.argv.includes("--check") && files.length > 0) {
  console.error("Generated code was not up to date; it is now: commit it.");
  process.exitCode = 1;
}
