/** Guards that are taken out of the component, and the pair of calls that shows it. */
import type { Change } from "../planted/change.js";
import type { PairName } from "./pairs.js";
import type { RoundOptions } from "./stage.js";
/** For each control the pair that finds it, and the violation. */
export interface Control {
  without: string;
  pair: PairName;
  finds: RegExp;
  changes: readonly Change[];
  options?: RoundOptions;
}

export const CONTROLS: readonly Control[] = [
  {
    without: "the real read of the active sessions before the last timer goes",
    pair: "claim and the sweep that disarms",
    finds: /^leased without a timer$/,
    changes: [
      { in: "janitor.ts:nextSweepAt", value: "next", is: "seen" },
      { in: "janitor.ts:nextSweepAt", from: "RANGE_ROWS", to: "0" },
    ],
  },
  {
    without: "the real read of the timer on which a claim relies",
    pair: "claim and the sweep that disarms",
    finds: /^leased without a timer$/,
    changes: [{ in: "timers.ts:ensureJanitor", begins: "if (seen != null) return;" }],
  },
  {
    without: "the second check whether the session has expired",
    pair: "beat and the sweep that expires its session",
    finds: /^a renewed lease was ended$/,
    changes: [
      { in: "lostLeases.ts:expireSession", condition: "expiresAt", is: false },
      { in: "lostLeases.ts:isGone", returns: "true" },
    ],
  },
  {
    without: "fencing by attempt",
    pair: "late words of a lost attempt and the claim of the next",
    finds: /^a lost attempt was renewed$|^running, in no lease$/,
    changes: [{ in: "sessions.ts:findLease", condition: "attempt", is: true }],
  },
  {
    without: "the snapshot's own timestamp as the end of a claim's scan",
    pair: "enqueue and calls that find nothing",
    finds: /^a pending job below a returned cursor$/,
    options: { snapshotLag: 0 },
    changes: [
      {
        in: "scan.ts:endOf",
        call: "afterCommit",
        gives: "afterCommit(BigInt(Date.now() + 1) * 1_000_000n)",
      },
    ],
  },
  {
    without: "the snapshot's own timestamp as the end of a sweep's scan",
    pair: "enqueue and calls that find nothing",
    finds: /^a pending job below a published cursor$/,
    options: { snapshotLag: 0 },
    changes: [
      {
        in: "publishPlan.ts:boundsOf",
        call: "afterCommit",
        gives: "afterCommit(BigInt(Date.now() + 1) * 1_000_000n)",
      },
    ],
  },
  {
    without: "the real read of the timer to which another leaves it, and an order among them",
    pair: "two sweeps of two timers",
    finds: /^leased without a timer$/,
    changes: [
      { in: "timers.ts:isServed", from: "other.id < timer._id", to: "other.id !== timer._id" },
      { in: "timers.ts:isServed", call: "db.get", gives: "before" },
    ],
  },
];
