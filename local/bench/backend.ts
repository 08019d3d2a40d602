/**
 * How fast the local backend itself is, and whether it stays so as tables grow: `npm run bench:backend`. Rates depend
 * on the machine; ratios to the smallest table should not. `--smoke` only shows that it runs.
 */
import { parseArgs } from "node:util";
import { measureEngine, type Kind } from "./engine.js";
import { measureFunctions, measureSubscriptions, startFunctions } from "./functions.js";

const { values } = parseArgs({ options: { smoke: { type: "boolean", default: false } } });
const sizes = values.smoke ? [100, 1_000] : [1_000, 100_000, 1_000_000];
const ms = values.smoke ? 50 : 1_500;
/** How much slower the largest table may be than the smallest. */
const FLAT_WITHIN = 2;

type Rates = Record<Kind, number>;

function table(title: string, measured: { rows: number; rates: Rates }[]): void {
  const first = measured[0]!.rates;
  const lines = measured.map(({ rows, rates }) => {
    const columns = Object.entries(rates).map(([kind, perSecond]) => {
      const ratio = Math.round((first[kind as Kind] / perSecond) * 100) / 100;
      return [`${kind}/s`, `${perSecond} (${ratio})`];
    });
    return [`${rows} documents`, Object.fromEntries(columns) as object] as const;
  });
  console.log(
    `${title}; in brackets how many times slower than with ${measured[0]!.rows} documents`,
  );
  console.table(Object.fromEntries(lines));
  const last = measured.at(-1)!.rates;
  for (const [kind, perSecond] of Object.entries(last)) {
    const ratio = first[kind as Kind] / perSecond;
    if (ratio > FLAT_WITHIN) console.log(`Not flat: ${kind} is ${ratio.toFixed(2)} times slower.`);
  }
}

const engine: { rows: number; rates: Rates }[] = [];
for (const rows of sizes) {
  const { rates, bytesPerDocument } = await measureEngine(rows, ms);
  engine.push({ rows, rates });
  console.log(`${rows} documents of two fields and an index take ${bytesPerDocument} bytes each`);
}
table("The engine, transactions a second", engine);

const backend = await startFunctions();
try {
  const functions: { rows: number; rates: Rates }[] = [];
  for (const rows of sizes) {
    functions.push({ rows, rates: await measureFunctions(backend, rows, ms) });
  }
  table("Through a function, transactions a second", functions);
  const watching = { clients: values.smoke ? 2 : 10, watched: values.smoke ? 5 : 20, ms };
  const invalidated = await measureSubscriptions(backend, watching);
  console.log(
    `${invalidated} subscriptions per second are outdated, rerun and sent to ${watching.clients} clients ` +
      `with ${watching.watched} each`,
  );
} finally {
  await backend.close();
}
