/**
 * `npm run bench:wake`: several ways in which an enqueue starts work inside Convex, for callers with a short or long
 * mutation. Prints the tables of docs/internals/choices/push-wakes.md. `--smoke` only shows that it runs; `--own 60` takes only callers
 * of that length.
 */
import { parseArgs } from "node:util";
import { markdownTable } from "markdown-table";
import { ownMs, play } from "./wake/play.js";
import { FULL, OWN, SMOKE, WAYS, type Way } from "./wake/scenarios.js";
import { lineOf } from "./wake/table.js";

const { values } = parseArgs({
  options: { smoke: { type: "boolean", default: false }, own: { type: "string" } },
});
const wanted = (ms: number): boolean => values.own === undefined || Number(values.own) === ms;

for (const own of OWN.filter(({ ms }) => wanted(ms))) {
  const alone = Math.round(await ownMs(own, values.smoke ? 5 : 100));
  console.log(`Callers' own ${own.ms} ms take ${alone} ms on average.`);
}
for (const { title, caps, loads, owns } of values.smoke ? SMOKE : FULL) {
  const lines: Record<string, string>[] = [];
  for (const [load, given] of Object.entries(loads)) {
    for (const own of owns.filter(({ ms }) => wanted(ms))) {
      for (const way of Object.keys(WAYS) as Way[]) {
        const played = await play({ way, load: given, own, caps });
        const line = { load, own: `${own.ms} ms`, ...lineOf(way, played) };
        // The whole takes minutes: finished lines are shown.
        console.error(Object.values(line).join(" | "));
        lines.push(line);
      }
    }
  }
  const names = Object.keys(lines[0] ?? {});
  console.log(`\n${title}\n\n${markdownTable([names, ...lines.map(Object.values)])}`);
}
