/**
 * `npm run bench:push`: jobs that Convex itself runs, by Conveyor, by workpool and by plain scheduling, each alone in a
 * world of the same class. Prints the tables of docs/push.md. `--smoke` only shows that it runs; `--only text` takes the
 * scenarios whose name has it; `--of conveyor` one alternative; `--functions` adds what each function was called.
 */
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import build from "../harness/build.js";
import { count, type Counted } from "./push/count.js";
import { play } from "./push/play.js";
import {
  ALTERNATIVES,
  FULL,
  SMOKE,
  WORKPOOL_TRIES,
  type Alternative,
  type Scenario,
} from "./push/scenarios.js";
import { lineOf } from "./push/table.js";
import { markdown } from "./wake/table.js";

interface PushOptions {
  smoke: boolean;
  only?: string | undefined;
  of?: string | undefined;
  functions?: boolean | undefined;
}

export async function push({
  smoke,
  only = "",
  of,
  functions = false,
}: PushOptions): Promise<void> {
  const all = smoke ? SMOKE : FULL;
  const named = all.filter(({ name }) => name === only);
  for (const scenario of named.length > 0 ? named : all.filter(({ name }) => name.includes(only))) {
    const lines: Record<string, string>[] = [];
    for (const alternative of ALTERNATIVES.filter((one) => of === undefined || one === of)) {
      const counted = await best(alternative, scenario, smoke);
      lines.push({ "": alternative, ...lineOf(counted) });
      // The whole takes minutes: what is known is shown.
      if (!smoke) console.error(scenario.name, "|", Object.values(lines.at(-1)!).join(" | "));
      if (functions) console.error(calledOf(counted));
    }
    console.log(`\n${scenario.name}\n\n${markdown(lines)}`);
  }
}

/** Workpool at its best: where it is allowed many at once, fewer may be more. */
async function best(
  alternative: Alternative,
  scenario: Scenario,
  smoke: boolean,
): Promise<Counted> {
  const tries =
    alternative === "workpool" && "inOne" in scenario.load && !smoke ? WORKPOOL_TRIES : [1];
  let most: Counted | undefined;
  for (const share of tries) {
    const parallelism = Math.max(1, Math.round(share * scenario.parallelism));
    const counted = count(alternative, await play(alternative, scenario, { parallelism }));
    if (most === undefined || counted.perSecond > most.perSecond) most = counted;
  }
  return most!;
}

function calledOf({ byFunction, lost }: Counted): string {
  const meetings = lost.map(
    ({ loser, winner, table, count: times }) =>
      `  ${loser} lost to ${winner} in ${table}: ${times}`,
  );
  const calls = Object.entries(byFunction).map(
    ([name, { billed, calls, durationMs, conflicts, io }]) =>
      `  ${name}: ${billed} calls of ${Math.round(durationMs / calls)} ms, ${conflicts} conflicts, ` +
      `${io.documentsRead} read, ${io.documentsWritten} documents, ${io.bytesWritten} bytes`,
  );
  return [...calls, ...meetings].join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { values } = parseArgs({
    options: {
      smoke: { type: "boolean", default: false },
      only: { type: "string" },
      of: { type: "string" },
      functions: { type: "boolean", default: false },
    },
  });
  build();
  await push(values);
}
