/** Writes `docs/reference/options.md` and `limits.md` from the docstrings of the code. A test holds that they are current. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import { root } from "../tests/support/paths.js";
import * as limits from "../src/shared/limits.js";
import * as lookLimits from "../src/shared/lookLimits.js";
import * as pushLimits from "../src/shared/pushLimits.js";
import * as tokenLimits from "../src/shared/tokenLimits.js";
import * as upkeepLimits from "../src/shared/upkeepLimits.js";

const FOLDER = path.join(root, "docs/reference");

/** The interfaces of the page of options, each with its file and heading, and with words that stand before its fields. */
const INTERFACES: readonly (readonly [
  file: string,
  name: string,
  heading: string,
  before?: string,
])[] = [
  ["src/client/queueOptions.ts", "QueueOptions", "Of a queue: `conveyor.queue(name, options)`"],
  [
    "src/client/tableTypes.ts",
    "TableQueueOptions",
    "Of a queue over the app's own table: `conveyor.tableQueue(table, options)`",
    "Besides `leaseMs`, `graceMs`, `maxResets`, `retry`, `timeoutMs`, `shards`, `retention`, `logLevel` and `result`, as of any queue.",
  ],
  ["src/client/tableTypes.ts", "RowColumns", "Of its columns: `columns`"],
  ["src/client/tableTypes.ts", "RowStates", "Of its states: `states`"],
  [
    "src/client/enqueueTypes.ts",
    "EnqueueOptions",
    "Of a job: `queue.enqueue(ctx, payload, options)`",
  ],
  ["src/client/enqueueTypes.ts", "KeyOption", "Of a key: `key`"],
  ["src/client/enqueueTypes.ts", "PreferOption", "Of a preference: `prefer`"],
  ["src/client/apiTypes.ts", "ApiOptions", "Of functions for pages: `conveyor.api(options)`"],
  [
    "src/client/workerTypes.ts",
    "WorkerApiOptions",
    "Of functions for workers: `conveyor.workerApi(options)`",
  ],
  [
    "src/client/dashboardTypes.ts",
    "DashboardApiOptions",
    "Of functions for the dashboard: `conveyor.dashboardApi(options)`",
  ],
  ["src/client/metrics.ts", "MetricsOptions", "Of metrics: `conveyor.metrics(options)`"],
  ["src/client/control.ts", "ManyOptions", "Of a change of many jobs: `control.cancelMany`, …"],
  ["src/worker/options.ts", "WorkerOptions", "Of a worker: `new Worker(options)`"],
  ["src/worker/options.ts", "OutputOptions", "Of a worker's output: `output`"],
  ["src/shared/batch.ts", "Batching", "Of batches: `batch` beside a handler"],
  ["src/worker/hookTypes.ts", "Hooks", "Of a worker's hooks: also in `new Worker(options)`"],
  ["src/worker/hookTypes.ts", "ClaimConditions", "Of one claim: returned by `beforeClaim`"],
  ["src/worker/hookTypes.ts", "PeekOptions", "Of a look at waiting jobs: `peek` in `beforeClaim`"],
  ["src/worker/hookTypes.ts", "BackPressure", "Of a worker's limits: `backPressure`"],
  ["src/worker/options.ts", "StopAfter", "Of its end by itself: `stopAfter`"],
  ["src/worker/types.ts", "LogOptions", "Of a log entry: `job.log(message, options)`"],
  [
    "src/worker/types.ts",
    "RetryLocallyOptions",
    "Of a part of a handler: `job.retryLocally(run, options)`",
  ],
  ["src/worker/pool/options.ts", "PoolOptions", "Of worker processes: `new WorkerPool(options)`"],
];

/** The files of the page of limits, each with its values, and with the heading of limits that stand before any section. */
const LIMITS = [
  ["limits.ts", limits, "Names"],
  ["lookLimits.ts", lookLimits, "Searches, lists and fleets"],
  ["pushLimits.ts", pushLimits, "Jobs inside Convex"],
  ["tokenLimits.ts", tokenLimits, "Tokens of workers"],
  ["upkeepLimits.ts", upkeepLimits, "Upkeep"],
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

interface Field {
  name: string;
  isOptional: boolean;
  comment: string;
}

function fieldsOf(code: string, name: string): Field[] {
  const begin = code.indexOf(`export interface ${name}`);
  const body = code.slice(begin, code.indexOf("\n}\n", begin));
  const fields = body.matchAll(
    /(?:^ {2}(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\n(?: {2}\/\/.*\n)*)?^ {2}(\w+)(\??):/gm,
  );
  return [...fields].map(([, comment = "", field, mark]) => ({
    name: field!,
    isOptional: mark === "?",
    comment,
  }));
}

function optionsOf(file: string, of: string): string[] {
  const code = readFileSync(path.join(root, file), "utf8");
  return fieldsOf(code, of).map(({ name, isOptional, comment }) => {
    const words = wordsOf(comment);
    const end = words.default === undefined ? "" : ` Default: ${codeOf(words.default)}.`;
    const text = `${words.text}${end}`.trim();
    return `- **\`${name}\`**${isOptional ? "" : " (required)"}${text === "" ? "" : `: ${text}`}`;
  });
}

/** The events of a union type, with their fields. */
function eventsOf(file: string, type: string): string[] {
  const code = readFileSync(path.join(root, file), "utf8");
  const [, body = ""] =
    new RegExp(`export type ${type} =\\n([\\s\\S]*?;)\\n(?:\\n|$)`).exec(code) ?? [];
  let comment = "";
  return body.split(/^ {2}(?=\/\*\*|\|)/m).flatMap((part) => {
    if (!part.startsWith("|")) {
      comment = part;
      return [];
    }
    const [, kind] = /kind: "(\w+)"/.exec(part)!;
    const also = [...part.matchAll(/& (\w+)/g)].flatMap(([, of]) => fieldsOf(code, of!));
    const own = [...part.matchAll(/(\w+)\??: /g)].map(([, name]) => name!);
    const names = [...own.slice(1), ...also.map(({ name }) => name)];
    const { text } = wordsOf(comment);
    comment = "";
    const fields = names.map((name) => `\`${name}\``).join(", ");
    return [`- **\`${kind}\`**${fields && ` (${fields})`}${text && `: ${text}`}`];
  });
}

/** The options that a mount's constructor takes, of which its docstring tells. */
function mountOptions(): string[] {
  const code = readFileSync(path.join(root, "src/client/conveyor.ts"), "utf8");
  const comment = code
    .slice(0, code.indexOf("constructor(component"))
    .match(/\/\*\*(?![\s\S]*\/\*\*)[\s\S]*/)![0];
  const tags = comment
    .replace(/^\s*\* ?/gm, "")
    .split(/^@/m)
    .map(inOneLine);
  return tags.flatMap((tag) => {
    const [, field, text] = /^param options\.(\w+) (.*)$/.exec(tag) ?? [];
    if (field === undefined) return [];
    const after = tags[tags.indexOf(tag) + 1]!.replace(/^default (?:\w+ (?=none|\d))?/, "");
    return [`- **\`${field}\`**: ${text} Default: ${codeOf(after)}.`];
  });
}

/** The limits of all files. Limits that share a docstring stand in one line. */
function limitsBySection(): string[] {
  return LIMITS.flatMap(([file, values, heading]) => {
    const code = readFileSync(path.join(root, "src/shared", file), "utf8");
    const named = new Map<string, unknown>(Object.entries(values));
    const parts = code.matchAll(
      /^\/\/ --- (.*?) -+$|^(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\n((?:export const [\s\S]*?;\n)+)/gm,
    );
    const sections: { heading: string; lines: string[] }[] = [{ heading, lines: [] }];
    for (const [, section, comment, group] of parts) {
      if (section !== undefined) sections.push({ heading: section, lines: [] });
      else {
        const names = [...group!.matchAll(/^export const (\w+)/gm)].map(([, name]) => name!);
        const are = names.map((name) => `\`${name}\` = ${valueOf(name, named.get(name))}`);
        sections.at(-1)!.lines.push(`- ${are.join(", ")}: ${wordsOf(comment!).text}`);
      }
    }
    return sections.flatMap(({ heading: of, lines }) =>
      lines.length === 0 ? [] : [`## ${of}`, "", ...lines, ""],
    );
  });
}

function valueOf(name: string, value: unknown): string {
  const unit =
    name.endsWith("Ms") || name.endsWith("_MS") ? " ms" : name.includes("_BYTES") ? " bytes" : "";
  if (typeof value === "number") return `${value.toLocaleString("en")}${unit}`;
  if (typeof value !== "object" || value === null) return String(value);
  const fields = Object.entries(value).map(
    ([field, of]) => `${field} ${valueOf(unit === "" ? field : name, of)}`,
  );
  return `{ ${fields.join(", ")} }`;
}

/** The pages by their names. */
export async function referencePages(): Promise<Record<string, string>> {
  const by = "`npx tsx scripts/reference.ts` writes this page from the code.";
  const options = INTERFACES.flatMap(([file, name, heading, before]) => [
    `## ${heading}`,
    "",
    ...(before === undefined ? [] : [before, ""]),
    ...optionsOf(file, name),
    "",
  ]);
  const pages = {
    "options.md": [
      "# Options",
      "",
      `Every option with its bounds and default. ${by}`,
      "",
      "## Of a mount: `new Conveyor(components.conveyor, options)`",
      "",
      ...mountOptions(),
      "",
      ...options,
      "## Events of a worker: `onEvent`, and `worker.on(kind, listener)`",
      "",
      ...eventsOf("src/worker/events.ts", "WorkerEvent"),
      "",
      "## Events of worker processes: `onEvent` of a `WorkerPool`",
      "",
      ...eventsOf("src/worker/pool/options.ts", "PoolEvent"),
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
