/** Bugs in fleets on call, and in jobs that prefer workers for a time. */
import { FORGETS_MS } from "../checkers/onCall.js";
import type { Plan, Planned } from "../plan.js";
import { having, type Mutant } from "./mutant.js";

const LOSES = "fleet on call.lose";

/** All workers on call are lost in a moment in which workers stand by. */
const losesAll = having(LOSES, { of: "all on call" });

const ofFleets: readonly Omit<Mutant, "needs">[] = [
  {
    name: "the worker that watches a fleet claims nothing",
    changes: [{ in: "worker/onCall.ts:OnCall.takes", without: "asking.looksIn" }],
    finds: ["on call"],
    where: losesAll,
  },
  {
    name: "a worker on call that leaves calls up no other",
    changes: [{ in: "claim/onCall.ts:dutyAtEnd", without: "callUp" }],
    finds: ["on call"],
    where: having(LOSES, { how: "terminate", of: "all on call" }),
  },
];

const ofPreferences: readonly Omit<Mutant, "needs">[] = [
  {
    name: "a job's preference never ends",
    changes: [{ in: "startDeadlines.ts:expireOne", without: "endPreference" }],
    finds: ["preferences", "simulation"],
  },
  {
    name: "any worker takes a job that prefers another",
    changes: [{ in: "conditions.ts:isPreferred", returns: "true" }],
    finds: ["preferences"],
  },
];

/** Workers on call die early in a phase so long that the living must have forgotten them. */
function diesLong({ events, faultsMs }: Plan): boolean {
  const isLoss = ({ do: what, how, at }: Planned) =>
    what === LOSES && how !== "terminate" && at < faultsMs / 10;
  return faultsMs >= FORGETS_MS && events.some(isLoss);
}

export const ON_CALL: readonly Mutant[] = [
  ...ofFleets.map((one) => ({ ...one, needs: ["fleet on call"] })),
  ...ofPreferences.map((one) => ({ ...one, needs: ["preferring"] })),
];

export const FLEETS_SEEN: readonly Mutant[] = [
  {
    name: "the duty of a dead worker is never forgotten",
    changes: [{ in: "claim/onCall.ts:dutyAtBeat", without: "forget" }],
    finds: ["on call"],
    needs: ["fleet on call"],
    where: diesLong,
  },
];
