/** Writes `docs/reference/options.md` and `limits.md` from the docstrings of the code. A test holds that they are current. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import { root } from "../tests/support/paths.js";
import * as limits from "../src/shared/limits.js";

const FOLDER = path.join(root, "docs/reference");

/** The interfaces of the page of options, each with its file and heading. */
const INTERFACES = [
  ["src/client/queueOptions.ts", "QueueOptions", "Of a queue: `conveyor.queue(name, options)`"],
  [
    "src/client/enqueueTypes.ts",
    "EnqueueOptions",
    "Of a job: `queue.enqueue(ctx, payload, options)`",
  ],
  ["src/client/enqueueTypes.ts", "KeyOption", "Of a key: `key`"],
  ["src/worker/options.ts", "WorkerOptions", "Of a worker: `new Worker(options)`"],
  ["src/shared/batch.ts", "Batching", "Of batches: `batch` beside a handler"],
  ["src/worker/hookTypes.ts", "Hooks", "Of a worker's hooks: also in `new Worker(options)`"],
  ["src/worker/hookTypes.ts", "ClaimConditions", "Of one claim: returned by `beforeClaim`"],
  ["src/worker/hookTypes.ts", "BackPressure", "Of a worker's limits: `backPressure`"],
  ["src/worker/options.ts", "StopAfter", "Of its end by itself: `stopAfter`"],
  ["src/worker/pool/options.ts", "PoolOptions", "Of worker processes: `new WorkerPool(options)`"],
] as const;

/** The words of a docstring, without its examples, and its default. */
function wordsOf(comment: string): { text: string; default: string | undefined } {
  const lines = comment.replace(/^\s*\/\*\*|\*\/\s*$/g, "").split("\n");
  const plain = lines.map((line) => line.replace(/^\s*\* ?/, "")).join("\n");
  const [text = "", ...tags] = plain.split(/^\s*@/m);
  const tag = tags.find((one) => one.startsWith("default"));
  return { text: inOneLine(text), default: tag && inOneLine(tag.slice("default".length)) };
}

const inOneLine = (text: string) =>
  text
    .replace(/\{@link (?:\w+\.)?(\w+)\}/g, "`$1`")
    .replace(/\s+/g, " ")
    .trim();

/** A value as code, words as they are. */
const codeOf = (text: string) => (/[ `]/.test(text) ? text : `\`${text}\``);

function optionsOf(file: string, name: string): string[] {
  const code = readFileSync(path.join(root, file), "utf8");
  const begin = code.indexOf(`export interface ${name}`);
  const body = code.slice(begin, code.indexOf("\n}\n", begin));
  const fields = body.matchAll(/^ {2}(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\n {2}(\w+)(\??):/gm);
  return [...fields].map(([, comment, field, isOptional]) => {
    const words = wordsOf(comment!);
    const end = words.default === undefined ? "" : ` Default: ${codeOf(words.default)}.`;
    return `- **\`${field}\`**${isOptional ? "" : " (required)"}: ${words.text}${end}`;
  });
}

function limitsBySection(): string[] {
  const code = readFileSync(path.join(root, "src/shared/limits.ts"), "utf8");
  const values = new Map<string, unknown>(Object.entries(limits));
  const parts = code.matchAll(
    /^\/\/ --- (.*?) -+$|^(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\nexport const (\w+) =/gm,
  );
  return [...parts].flatMap(([, section, comment, name]) => {
    if (section !== undefined) return ["", `## ${section}`, ""];
    const value = values.get(name!);
    if (typeof value !== "number") return [];
    const unit = name!.endsWith("_MS") ? " ms" : name!.endsWith("_BYTES") ? " bytes" : "";
    return [`- \`${name}\` = ${value.toLocaleString("en")}${unit}: ${wordsOf(comment!).text}`];
  });
}

/** The pages by their names. */
export async function referencePages(): Promise<Record<string, string>> {
  const by = "`npx tsx scripts/reference.ts` writes this page from the code.";
  const options = INTERFACES.flatMap(([file, name, heading]) => [
    `## ${heading}`,
    "",
    ...optionsOf(file, name),
    "",
  ]);
  const pages = {
    "options.md": [
      "# Options",
      "",
      `Every option with its bounds and default. ${by}`,
      "",
      ...options,
    ],
    "limits.md": ["# Limits", "", `Every limit with its reason. ${by}`, "", ...limitsBySection()],
  };
  const formatted = Object.entries(pages).map(async ([name, lines]) => {
    const config = await resolveConfig(path.join(FOLDER, name));
    return [name, await format(lines.join("\n"), { ...config, parser: "markdown" })] as const;
  });
  return Object.fromEntries(await Promise.all(formatted));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(await referencePages()))
    writeFileSync(path.join(FOLDER, name), text);
}
