import { test } from "vitest";
import { deploymentOf } from "../races/deployment.js";
import { violation } from "./mutants.js";
import { play } from "./pair.js";
import { PLACES } from "./pairs/places.js";
import { PROCESSES } from "./pairs/processes.js";
import { LANES } from "./pairs/lanes.js";
import { LANE_LOSSES } from "./pairs/laneLosses.js";
const sound = await deploymentOf([]);
const all = process.env.TMP_ALL ? [...LANES, ...LANE_LOSSES] : [...PROCESSES, ...PLACES];
const chosen = all.filter(({ of }) => of.includes(process.env.TMP_OF ?? ""));
test("t", async () => {
  for (const pair of chosen) {
    const at = Date.now();
    try { const { orders, ends } = await play(sound, pair); console.log("OK", orders, pair.orders, ends, pair.of, Date.now() - at); }
    catch (e) { console.log("BAD", pair.of, "::", (e as Error).message); }
    if (process.env.TMP_MUT) for (const m of pair.mutants) {
      try { const found = await violation(sound, pair, m); console.log(m.finds.test(found) ? "  found" : "  NOT", m.without, "::", found.slice(0, 200)); }
      catch (e) { console.log("  ERR", m.without, (e as Error).message); }
    }
  }
}, 900000);
