/**
 * What work costs in dollars, beyond what a plan includes. Prices as published at convex.dev/pricing and
 * docs.convex.dev/production/state/limits, read in 2026: function calls, database I/O, and the compute of actions, 64 MiB
 * for each outside of Node. Left out: storage, of which what is kept is each app's choice, and developers' seats.
 */
import type { DeploymentClass } from "../../local/functions/classes.js";

interface Prices {
  plan: string;
  aMillionCalls: number;
  aGigabyteOfIo: number;
  aGigabyteHour: number;
}

const STARTER = { plan: "Starter", aMillionCalls: 2.2, aGigabyteOfIo: 0.22, aGigabyteHour: 0.33 };
const PROFESSIONAL = {
  plan: "Professional",
  aMillionCalls: 2,
  aGigabyteOfIo: 0.2,
  aGigabyteHour: 0.3,
};
const DEDICATED = { plan: "Business", aMillionCalls: 0.2, aGigabyteOfIo: 0.15, aGigabyteHour: 0.3 };

/** The plan on which a class is had. */
export const PRICES: Record<DeploymentClass, Prices> = {
  s16: STARTER,
  s256: PROFESSIONAL,
  d1024: DEDICATED,
  d2048: DEDICATED,
};

/** Of an action outside of Node, in gigabytes. */
const ACTION_GIGABYTES = 64 / 1_024;
const HOUR_MS = 3_600_000;

/** Of a million jobs, of which each costs so much. */
export function dollarsAMillion(
  of: DeploymentClass,
  { calls, ioBytes, actionMs }: { calls: number; ioBytes: number; actionMs: number },
): number {
  const { aMillionCalls, aGigabyteOfIo, aGigabyteHour } = PRICES[of];
  const aJob =
    (calls * aMillionCalls) / 1e6 +
    (ioBytes * aGigabyteOfIo) / 1e9 +
    (actionMs / HOUR_MS) * ACTION_GIGABYTES * aGigabyteHour;
  return aJob * 1e6;
}
