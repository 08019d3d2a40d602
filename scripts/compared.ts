/** Counts the snippets of `docs/internals/choices/compared` and writes `docs/internals/choices/compared-surface.md` from them. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import { root } from "../tests/support/paths.js";

export const PAGE = path.join(root, "docs/internals/choices/compared-surface.md");
const FOLDER = path.join(root, "docs/internals/choices/compared");

const SYSTEMS = {
  conveyor: ["Conveyor", "0.1.0", "../../../README.md"],
  workpool: ["workpool", "0.4.12", "https://www.npmjs.com/package/@convex-dev/workpool"],
  "trigger.dev": ["Trigger.dev", "SDK 4.8", "https://trigger.dev/docs"],
  bullmq: ["BullMQ", "6.7", "https://docs.bullmq.io"],
  inngest: ["Inngest", "SDK 4.24", "https://www.inngest.com/docs"],
  "pg-boss": ["pg-boss", "12.38", "https://github.com/timgit/pg-boss/tree/master/docs"],
} as const;
type System = keyof typeof SYSTEMS;

const TASKS = {
  "1-define": "define a queue and enqueue",
  "2-retry": "retry, delay and key",
  "3-worker": "an outside worker with progress and cancel",
  "4-react": "live in React",
  "5-complete": "a callback at the end",
  "6-many": "2,000 jobs at once",
  "7-dashboard": "a dashboard",
  "8-pause": "pause from a terminal",
} as const;

interface Task {
  lines: number;
  names: string[];
  /** The names that do not appear in the code. */
  unfounded: string[];
  reservation?: string | undefined;
  absent?: string;
  hosted?: string;
}

const isComment = (line: string) => /^\s*(\/\/|#)/.test(line);

/** Lines that are neither empty nor comments, and the names of the first comment. */
export function taskOf(system: string, task: string): Task {
  const folder = path.join(FOLDER, system, task);
  const none: Task = { lines: 0, names: [], unfounded: [] };
  const all = readdirSync(folder).map((file) => {
    const text = readFileSync(path.join(folder, file), "utf8");
    if (file === "absent.txt") none.absent = text.trim();
    if (file === "hosted.txt") none.hosted = text.trim();
    return text.split("\n");
  });
  if (none.absent !== undefined || none.hosted !== undefined) return none;
  const lines = all.flat();
  const code = lines.filter((line) => line.trim() !== "" && !isComment(line));
  const comment = (of: string) =>
    lines
      .find((line) => isComment(line) && line.includes(of))
      ?.split(of)[1]
      ?.trim();
  const names = comment("Names: ")?.split(" ") ?? [];
  const words = code.join("\n");
  const unfounded = names.filter((name) => !words.includes(name));
  return { lines: code.length, names, unfounded, reservation: comment("Reservation: ") };
}

function cell(system: string, task: string): string {
  const { lines, names, absent, hosted, reservation } = taskOf(system, task);
  if (absent !== undefined) return "none";
  if (hosted !== undefined) return "0";
  return `${lines} / ${names.length}${reservation === undefined ? "" : "*"}`;
}

const systems = Object.keys(SYSTEMS) as System[];
const tasks = Object.entries(TASKS);

/** Notes on the figures: a task that a system lacks, and a snippet that does less than its neighbors. */
function notes(): string[] {
  return tasks.flatMap(([task, title]) =>
    systems.flatMap((system) => {
      const { absent, hosted, reservation } = taskOf(system, task);
      const note = absent ?? hosted ?? reservation;
      return note === undefined ? [] : [`- ${SYSTEMS[system][0]}, ${title}: ${lower(note)}`];
    }),
  );
}

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

/** Where another system needs fewer lines for the same task; with a star where it does less. */
function shorter(): string[] {
  return tasks.flatMap(([task, title]) => {
    const ours = taskOf("conveyor", task).lines;
    const fewer = systems.flatMap((system) => {
      const { lines, absent, reservation } = taskOf(system, task);
      if (absent !== undefined || lines >= ours) return [];
      return [`${SYSTEMS[system][0]} (${lines}${reservation === undefined ? "" : "*"})`];
    });
    return fewer.length === 0 ? [] : [`- ${title} (${ours}): ${fewer.join(", ")}.`];
  });
}

/** The whole page. */
export async function comparedPage(): Promise<string> {
  const heads = systems.map((system) => {
    const [name, version, url] = SYSTEMS[system];
    return `[${name}](${url}) ${version}`;
  });
  const rows = tasks.map(([task, title]) => [title, ...systems.map((of) => cell(of, task))]);
  const table = [["lines / names", ...heads], heads.map(() => "-").concat("-"), ...rows];
  const text = `# Eight tasks, in six systems

Lines of code, and names of the library that one has to know, by the snippets in [compared](compared/README.md). Lines that are empty or comments do not count; imports do, and so do the app's own lines around a call (arguments, validators), which Convex asks of every function. A star: the snippet does less than its neighbors, see below. The page is written by \`npx tsx scripts/compared.ts\`, and a test holds it.

${table.map((row) => `| ${row.join(" | ")} |`).join("\n")}

## Where other systems are shorter

${shorter().join("\n")}

Their functions are plain ones, called from a server of the app; in Convex each is exported with its validators, which is most of the difference. In exchange the enqueue belongs to the transaction that calls it.

## What the figures leave out

${notes().join("\n")}
- BullMQ and pg-boss need a Redis and a Postgres, and processes for their workers; Trigger.dev and Inngest an account or a server of theirs; workpool and Conveyor nothing but Convex.
`;
  return await format(text, { ...(await resolveConfig(PAGE)), parser: "markdown" });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PAGE, await comparedPage());
