/**
 * `npm run bench:push`: jobs that Convex itself runs, by Conveyor, by workpool and by plain scheduling, each alone in a
 * world of the same class. Prints the tables of docs/push.md. `--smoke` only shows that it runs; `--only text` takes the
 * scenarios whose name has it; `--of conveyor` one alternative; `--functions` adds what each function was called; `--set
 * LANE_WIDTH=16` plays Conveyor with another constant of src/shared/pushLimits.ts, and may be given several times.
 */
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import build from "../harness/build.js";
import { markdown } from "./markdown.js";
import { count, type Counted } from "./push/count.js";
import { play } from "./push/play.js";
import {
  ALTERNATIVES,
  EXTRA,
  FULL,
  SMOKE,
  WORKPOOL_TRIES,
  type Alternative,
  type Scenario,
} from "./push/scenarios.js";
import { lineOf, whyOf } from "./push/table.js";
import type { Constants } from "./push/variant.js";

interface PushOptions {
  smoke: boolean;
  only?: string | undefined;
  of?: string | undefined;
  functions?: boolean | undefined;
  /** `NAME=value`. */
  set?: string[] | undefined;
}

export async function push({
  smoke,
  only,
  of,
  functions = false,
  set = [],
}: PushOptions): Promise<void> {
  const constants = Object.fromEntries(
    set.map((one) => [one.split("=")[0], Number(one.split("=")[1])]),
  ) as Constants;
  for (const scenario of chosen(smoke, only)) {
    const lines: Record<string, string>[] = [];
    for (const alternative of Object.keys(ALTERNATIVES) as Alternative[]) {
      if (of === undefined ? alternative === "inline" && !scenario.inline : of !== alternative)
        continue;
      const counted = await best(alternative, scenario, { smoke, constants });
      const label = [ALTERNATIVES[alternative], ...set].join(", ");
      lines.push({ "": label, ...lineOf(counted) });
      // The whole takes minutes: what is known is shown.
      if (!smoke) console.error(scenario.name, "|", Object.values(lines.at(-1)!).join(" | "));
      const why = functions ? calledOf(counted) : whyOf(counted);
      if (why !== "") console.error(why);
    }
    console.log(`\n${scenario.name}\n\n${markdown(lines)}`);
  }
}

function chosen(smoke: boolean, only: string | undefined): Scenario[] {
  const all = smoke ? SMOKE : FULL;
  if (only === undefined) return all;
  const named = [...all, ...EXTRA].filter(({ name }) => name === only);
  return named.length > 0 ? named : all.filter(({ name }) => name.includes(only));
}

/** Workpool at its best: where it is allowed many at once, and much comes, fewer may be more. */
async function best(
  alternative: Alternative,
  scenario: Scenario,
  { smoke, constants }: { smoke: boolean; constants: Constants },
): Promise<Counted> {
  const tries = alternative === "workpool" && isLarge(scenario) && !smoke ? WORKPOOL_TRIES : [1];
  let most: Counted | undefined;
  for (const share of tries) {
    const parallelism = Math.max(1, Math.round(share * scenario.parallelism));
    const played = await play(alternative, scenario, { parallelism, constants });
    const counted = count(alternative, played);
    if (most === undefined || isBetter(counted, most, scenario)) most = counted;
  }
  return most!;
}

const isLarge = ({ load, reads }: Scenario): boolean =>
  "inOne" in load || ("perSecond" in load && load.perSecond >= 100 && reads === undefined);

/** Where all is there from the start, by how soon all is done; in a stream, by how soon a job is begun. */
function isBetter(one: Counted, other: Counted, { load }: Scenario): boolean {
  if ("inOne" in load) return one.perSecond > other.perSecond;
  return one.startMs[0]! < other.startMs[0]!;
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
      set: { type: "string", multiple: true },
    },
  });
  build();
  await push(values);
}
