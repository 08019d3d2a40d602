/**
 * The README and the guides, followed to the letter in an empty app that has the packed tarball and nothing else of this repository:
 * its files are there, and the official CLI has pushed them to a local backend.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { startBackend, type Backend } from "../../local/backend.js";
import { convex, push } from "../../local/convexCli.js";
import { linkPackages } from "../support/link.js";
import { root } from "../support/paths.js";

/** The app's folder. */
export let app: string;
export let backend: Backend;
/** Has the photos and takes the mails. */
let outside: Server;
export const mails: { to: string; body: string; key: string }[] = [];
export const photosUrl = (at: string) =>
  `http://127.0.0.1:${(outside.address() as AddressInfo).port}${at}`;

/** The README, the guides and the reference: one app together. */
const documents = [
  "README.md",
  ...["docs/guides", "docs/reference"].flatMap((folder) =>
    readdirSync(path.join(root, folder)).map((file) => `${folder}/${file}`),
  ),
].map((file) => readFileSync(path.join(root, file), "utf8"));

/** Their code, by the file name that each block opens with; a `(continued)` block is appended to its file. */
export function blocks(): { file: string; code: string }[] {
  const block = /```tsx?\n\/\/ (\S+)( \(continued\))?\n([\s\S]*?)```/g;
  const all = documents.flatMap((text) => [...text.matchAll(block)]);
  const files = new Map<string, string>();
  for (const [, file, continued, code] of all) {
    if (continued !== undefined) continue;
    if (files.has(file!)) throw new Error(`${file} begins twice.`);
    files.set(file!, code!);
  }
  for (const [, file, continued, code] of all) {
    if (continued === undefined) continue;
    if (!files.has(file!)) throw new Error(`${file} is continued and never begins.`);
    files.set(file!, `${files.get(file!)!}${code!}`);
  }
  return [...files].map(([file, code]) => ({ file, code }));
}

/** The same in Python. */
function pythonBlocks(): { file: string; code: string }[] {
  const all = [...documents.join("\n").matchAll(/```python\n# (\S+)\n([\s\S]*?)```/g)];
  return all.map(([, file, code]) => ({ file: file!, code: code! }));
}

/**
 * Does the same as `npm install <tarball>`, without asking a registry for the rest. The package has just been built, and other
 * tests are reading it: no script may empty `dist` under them.
 */
function installTarball(into: string): void {
  const pack = ["pack", "--silent", "--ignore-scripts", "--pack-destination", into];
  const packed = execFileSync("npm", pack, { cwd: root, encoding: "utf8" });
  const tarball = path.join(into, packed.trim().split("\n").at(-1)!);
  const unpacked = path.join(into, "unpacked");
  mkdirSync(unpacked);
  execFileSync("tar", ["xzf", tarball, "-C", unpacked]);
  linkPackages(into, path.join(unpacked, "package"));
}

const TSCONFIG = {
  compilerOptions: {
    target: "ES2022",
    lib: ["ES2023", "DOM"],
    module: "ESNext",
    moduleResolution: "Bundler",
    jsx: "react-jsx",
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    // No more than the guide says, so that a reader's `npx convex dev` has no error either.
    types: JSON.parse(
      /`types` of `convex\/tsconfig\.json` become `(.*?)`/.exec(documents.join("\n"))![1]!,
    ) as string[],
  },
  include: ["convex", "src", "*.ts"],
};

/** A query of the app's own rows, for the test. */
const INSPECT = `
import { query } from "./_generated/server";
export const photos = query({ args: {}, handler: async (ctx) => ctx.db.query("photos").collect() });
`;

/** A worker is an object: two live in one process as well as in two, and this starts faster. */
const BOTH = `export {};\nawait Promise.all([import("./worker.js"), import("./assistant.js")]);`;

/** Before all tests: the app is there, and pushed. */
export async function openApp(): Promise<void> {
  app = mkdtempSync(path.join(tmpdir(), "conveyor-readme-"));
  installTarball(app);
  const manifest = { name: "readme-app", type: "module", dependencies: { convex: "*" } };
  writeFileSync(path.join(app, "package.json"), JSON.stringify(manifest));
  writeFileSync(path.join(app, "tsconfig.json"), JSON.stringify(TSCONFIG));
  for (const { file, code } of [...blocks(), ...pythonBlocks()]) {
    mkdirSync(path.dirname(path.join(app, file)), { recursive: true });
    writeFileSync(path.join(app, file), code);
  }
  writeFileSync(path.join(app, "convex/inspect.ts"), INSPECT);
  writeFileSync(path.join(app, "both.ts"), BOTH);
  backend = await startBackend({ port: 0, quiet: true });
  await push(app, backend);
  outside = createServer((request, response) => {
    if (request.method !== "POST") return void response.end("x".repeat(1234));
    const mail = { to: request.url!, body: "", key: String(request.headers["idempotency-key"]) };
    request.on("data", (data: Buffer) => (mail.body += data.toString()));
    request.on("end", () => {
      mails.push(mail);
      response.end();
    });
  });
  await new Promise<void>((resolve) => outside.listen(0, "127.0.0.1", resolve));
  await convex(app, ["env", "set", "MAIL_URL", photosUrl("/mail")], backend);
}

/** After them. */
export async function closeApp(): Promise<void> {
  outside?.close();
  await backend?.close();
  if (app) rmSync(app, { recursive: true, force: true });
}
