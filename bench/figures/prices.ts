/**
 * The cost of work in dollars, beyond a plan's included amounts, by the class that it runs on: function calls, database
 * I/O and compute, in Convex's own runtime. Prices as published at docs.convex.dev/production/state/limits (August
 * 2026). Serverless classes bill the time of actions; dedicated ones their CPU time instead, and also the compute of
 * queries and mutations. Left out: storage, which depends on each app's retention, developers' seats, and the fee of a
 * deployment.
 */
import type { DeploymentClass } from "../../local/functions/classes.js";

interface Prices {
  plan: string;
  aMillionCalls: number;
  aGigabyteOfIo: number;
  /** The time that is billed, and the price of a gigabyte-hour of it. */
  aGigabyteHour: Compute;
}

/** Milliseconds of actions from begin to end, of their CPU, and of queries and mutations. */
export interface Compute {
  actionMs?: number;
  actionCpuMs?: number;
  transactionMs?: number;
}

const STARTER: Prices = {
  plan: "Starter",
  aMillionCalls: 2.2,
  aGigabyteOfIo: 0.22,
  aGigabyteHour: { actionMs: 0.33 },
};
const PROFESSIONAL: Prices = {
  plan: "Professional",
  aMillionCalls: 2,
  aGigabyteOfIo: 0.2,
  aGigabyteHour: { actionMs: 0.3 },
};
const DEDICATED: Prices = {
  plan: "Business",
  aMillionCalls: 0.2,
  aGigabyteOfIo: 0.15,
  aGigabyteHour: { actionCpuMs: 0.16, transactionMs: 0.45 },
};

/** The plan on which a class is had. */
export const PRICES: Record<DeploymentClass, Prices> = {
  s16: STARTER,
  s256: PROFESSIONAL,
  d1024: DEDICATED,
  d2048: DEDICATED,
};

/**
 * Of an action outside of Node, in gigabytes. For a query or mutation it is an ASSUMPTION: its use is metered there.
 */
const GIGABYTES = 64 / 1_024;
const HOUR_MS = 3_600_000;

/** Of a million jobs, of which each costs so much. Throws where a time that the class bills is not given. */
export function dollarsAMillion(
  of: DeploymentClass,
  { calls, ioBytes, ...times }: Compute & { calls: number; ioBytes: number },
): number {
  const { aMillionCalls, aGigabyteOfIo, aGigabyteHour } = PRICES[of];
  const gigabyteHours = Object.entries(aGigabyteHour).map(([name, price]: [string, number]) => {
    const ms = times[name as keyof Compute];
    if (ms === undefined) throw new Error(`The class ${of} bills ${name}, which was not measured.`);
    return (ms / HOUR_MS) * GIGABYTES * price;
  });
  const aJob =
    (calls * aMillionCalls) / 1e6 +
    (ioBytes * aGigabyteOfIo) / 1e9 +
    gigabyteHours.reduce((sum, dollars) => sum + dollars, 0);
  return aJob * 1e6;
}
