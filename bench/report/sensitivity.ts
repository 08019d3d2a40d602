/** How Conveyor stands to workpool when a constant of the cost model is halved or doubled. */
import { markdownTable } from "markdown-table";
import type { Figures } from "../figures/count.js";
import type { Line } from "../lines.js";
import { groupBy } from "./group.js";
import { short } from "./said.js";

const MEASURES: [string, (figures: Figures) => number][] = [
  ["jobs/s", ({ perSecond }) => perSecond],
  ["start p50", ({ startMs }) => startMs.p50],
  ["start p95", ({ startMs }) => startMs.p95],
  ["done p50", ({ doneMs }) => doneMs.p50],
  ["calls", ({ calls }) => calls],
];

export function sensitivityOf(lines: readonly Line[]): string {
  if (lines.length === 0) return "";
  const tables = [...groupBy(lines, (line) => line.case)].map(([name, of]) => {
    const runs = groupBy(of, ({ varied }) =>
      varied === undefined ? "as it is" : `${varied.constant} × ${varied.by}`,
    );
    const rows = [...runs].map(([what, pair]) => [what, ...ratiosOf(pair)]);
    const names = ["", ...MEASURES.map(([measure]) => measure)];
    return `### ${name}\n\n${markdownTable([names, ...rows])}`;
  });
  return [
    "## Sensitivity to the cost model",
    "Conveyor's figure, divided by workpool's, with each constant of the model halved and doubled. Above 1 Conveyor does more jobs per second, begins later, or makes more calls.",
    ...tables,
  ].join("\n\n");
}

function ratiosOf(pair: readonly Line[]): string[] {
  const figuresOf = (name: string) => pair.find(({ of }) => of === name)?.figures;
  const [ours, theirs] = [figuresOf("conveyor"), figuresOf("workpool")];
  if (ours === undefined || theirs === undefined) return MEASURES.map(() => "—");
  return MEASURES.map(([, of]) => short(of(ours) / of(theirs)));
}
