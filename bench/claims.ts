/**
 * `npm run bench:claims`: claims by themselves. Against a queue as one would first write it, over a queue's past and
 * future, conflicts between workers, and how fast virtual time is. `--smoke` only shows that it runs.
 */
import { parseArgs } from "node:util";
import build from "../scripts/support/build.js";
import { startApp, type TestApp } from "../tests/support/testApp.js";
import { contention } from "./contention.js";
import { costs } from "./cost.js";
import { conveyor, naive } from "./drain.js";
import { history } from "./history.js";
import { measure, row } from "./measure.js";
import { virtualTime } from "./virtual.js";

const { values } = parseArgs({ options: { smoke: { type: "boolean", default: false } } });
const jobs = values.smoke ? 60 : 1_000;
const claimers = values.smoke ? 4 : 16;

const SCENARIOS: Record<string, (app: TestApp) => Promise<number>> = {
  "conveyor, 1 a claim": (app) => conveyor(app, { jobs, claimers, batch: 1 }),
  "conveyor, 16 a claim": (app) => conveyor(app, { jobs, claimers, batch: 16 }),
  // Claiming only: finishing would be a call more.
  "first() and patch, claim only": (app) => naive(app, { jobs, claimers }),
};

await build();
const table: Record<string, Record<string, number>> = {};
for (const [name, run] of Object.entries(SCENARIOS)) {
  // A backend of its own each: an earlier worker would still be taken for a colleague.
  const app = await startApp();
  try {
    const cost = await measure(app, () => run(app));
    if (cost.jobs !== jobs) throw new Error(`${name}: finished ${cost.jobs} of ${jobs} jobs`);
    table[name] = row(cost);
  } finally {
    await app.close();
  }
}
console.log(`${claimers} claimers drain ${jobs} jobs on the local backend`);
console.table(table);
await costs({ smoke: values.smoke });
await contention({ smoke: values.smoke });
await history({ smoke: values.smoke });
await virtualTime({ smoke: values.smoke });
