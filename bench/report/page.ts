/** `RESULTS.md`: the subject, the way and the results of the measurements; made of the lines alone. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { format, resolveConfig } from "prettier";
import { markdownTable } from "markdown-table";
import type { Scenario } from "../cases.js";
import { PRICES, type Compute } from "../figures/prices.js";
import type { Line } from "../lines.js";
import { SCENARIOS } from "../scenarios/all.js";
import { SENSITIVITY } from "../scenarios/sensitivity.js";
import { waitingFleets } from "../scenarios/waitingFleets.js";
import { fleetTableOf } from "./fleetTable.js";
import { groupBy } from "./group.js";
import { plotScenario } from "./plots.js";
import { BENCH } from "./results.js";
import type { WallLine } from "../processes/play.js";
import { sensitivityOf } from "./sensitivity.js";
import { tableOf } from "./tables.js";
import { targetsOf } from "./targets.js";
import { wallOf } from "./wall.js";
import { winsOf } from "./wins.js";

export async function writeReport(
  lines: readonly Line[],
  wall: readonly WallLine[],
): Promise<void> {
  const parts = [
    introduction(lines),
    targets(lines),
    wins(lines),
    ...SCENARIOS.map((scenario) => section(scenario, linesOf(lines, scenario))),
    wallOf(wall),
    sensitivityOf(linesOf(lines, SENSITIVITY)),
  ];
  const file = path.join(BENCH, "RESULTS.md");
  const text = parts.filter((part) => part !== "").join("\n\n");
  const options = await resolveConfig(file);
  writeFileSync(file, await format(text, { ...options, filepath: file }));
}

const linesOf = (lines: readonly Line[], { title }: Scenario) =>
  lines.filter((line) => line.scenario === title);

function introduction(lines: readonly Line[]): string {
  const said = new Set(lines.map(({ settings }) => JSON.stringify(settings.versions)));
  const versions = [...said].map((text) =>
    Object.entries(JSON.parse(text) as Record<string, string>)
      .map(([name, version]) => `${name} ${version}`)
      .join(", "),
  );
  const prices = Object.entries(PRICES).map(
    ([name, { plan, aMillionCalls, aGigabyteOfIo, aGigabyteHour }]) =>
      `${name.toUpperCase()} (${plan}): $${aMillionCalls} a million calls, $${aGigabyteOfIo} a GB read or written, ${computeOf(aGigabyteHour)}`,
  );
  return [
    "# Results",
    "Written by `npm run bench`, never by hand; the lines behind it are in `results.jsonl`, each with all of its settings. `README.md` describes the measurements, their limits, and the assumptions of the cost model.",
    `Played with ${versions.join("; with ")}.`,
    `Figures are a job's, on average, unless they say otherwise. Calls are billed ones without the callers' own. Janitor, roll-up and retention of Conveyor come behind, and are part of the figure. Of several seeds a figure is the mean, with its 95 % confidence interval in brackets. Counts come first, and depend on no cost model; times do. Prices: ${prices.join("; ")}.`,
  ].join("\n\n");
}

function targets(lines: readonly Line[]): string {
  const rows = targetsOf(lines).map(({ promise, isMet, measured }) => [
    promise,
    isMet === undefined ? "—" : isMet ? "yes" : "**no**",
    measured,
  ]);
  return `## Conveyor's targets\n\n${markdownTable([["", "reached", "measured"], ...rows])}`;
}

function wins(lines: readonly Line[]): string {
  const found = winsOf(lines);
  const intro =
    "Every figure in which an alternative is ahead of the best of Conveyor's ways by more than a twentieth. `README.md` has the reasons, and the attempts to catch up.";
  const told = found.map(
    ({ scenario, case: name, said }) => `- **${scenario}, ${name}.** ${said.join("; ")}.`,
  );
  return `## Where alternatives are ahead\n\n${intro}\n\n${told.join("\n")}`;
}

function section(scenario: Scenario, lines: readonly Line[]): string {
  if (lines.length === 0) return "";
  const { title, question } = scenario;
  const cases = groupBy(lines, (line) => line.case);
  const plots = plotScenario(scenario, lines).map(([label, file]) => `![${label}](${file})`);
  return [
    `## ${title}`,
    question,
    `\`npm run bench -- --only "${title}"\``,
    ...(scenario === waitingFleets ? [fleetTableOf(lines)] : []),
    ...[...cases].flatMap(([name, of]) => [`### ${name}`, settingsOf(of[0]!), tableOf(of)]),
    ...plots,
  ].join("\n\n");
}

/** The case in one line. */
function settingsOf({ settings }: Line): string {
  const {
    class: of,
    load,
    work,
    parallelism,
    tried,
    versions: _versions,
    seed,
    ...rest
  } = settings;
  const { size: _size, windows: _windows, ...others } = rest;
  const { seeds, ...said } = others;
  const told = {
    ...{ class: of.toUpperCase(), load, work },
    ...(tried === undefined ? { parallelism } : { parallelism: Math.max(...tried), tried }),
    ...{ ...said, seed: seeds === undefined ? seed : `1 to ${seeds}` },
  };
  return `\`${JSON.stringify(told)}\``;
}

const COMPUTE: Record<keyof Compute, string> = {
  actionMs: "of actions",
  actionCpuMs: "of actions' CPU time",
  transactionMs: "of queries and mutations",
};

function computeOf(prices: Compute): string {
  return (Object.keys(prices) as (keyof Compute)[])
    .map((name) => `$${prices[name]} a GB-hour ${COMPUTE[name]}`)
    .join(", ");
}
