/**
 * Deployment classes: how much of each kind may run at once, and how fast a deployment may write. Numbers only; waits
 * and refusals are in `permits.ts`, `writeRate.ts` and the executors.
 */

const MIB = 1 << 20;

export const DEPLOYMENT_CLASSES = ["s16", "s256", "d1024", "d2048"] as const;
export type DeploymentClass = (typeof DEPLOYMENT_CLASSES)[number];

/** The smallest: also the defaults of the backend's published code (knobs.rs). */
export const DEFAULT_CLASS: DeploymentClass = "s16";

export interface ClassLimits {
  /** Queries that run at once, for clients and for actions. Nested calls run in their caller's place. */
  queries: number;
  mutations: number;
  /** Actions outside of Node, and HTTP actions. */
  v8Actions: number;
  nodeActions: number;
  /** Scheduled functions that run at once; crons have as many again for themselves. */
  scheduledJobs: number;
  /** Documents and index entries, the system's included. */
  writeBytesPerSecond: number;
}

/** docs: production/state/limits, "concurrent function executions" and "write throughput". */
export const CLASS_LIMITS: Record<DeploymentClass, ClassLimits> = {
  s16: {
    queries: 16,
    mutations: 16,
    v8Actions: 64,
    nodeActions: 64,
    scheduledJobs: 8,
    writeBytesPerSecond: 4 * MIB,
  },
  s256: {
    queries: 256,
    mutations: 256,
    v8Actions: 512,
    nodeActions: 256,
    scheduledJobs: 256,
    writeBytesPerSecond: 8 * MIB,
  },
  d1024: {
    queries: 1024,
    mutations: 512,
    v8Actions: 1024,
    nodeActions: 1024,
    scheduledJobs: 512,
    writeBytesPerSecond: 32 * MIB,
  },
  d2048: {
    queries: 2048,
    mutations: 1024,
    v8Actions: 2048,
    nodeActions: 2048,
    scheduledJobs: 1024,
    writeBytesPerSecond: 64 * MIB,
  },
};

/** In the platform's spelling: `S16`, `d1024`. For any other text throws an error that lists the classes. */
export function parseClass(given: string): DeploymentClass {
  const found = DEPLOYMENT_CLASSES.find((name) => name === given.toLowerCase());
  if (found !== undefined) return found;
  const known = DEPLOYMENT_CLASSES.map((name) => name.toUpperCase()).join(", ");
  throw new Error(`A deployment class is one of ${known}, got "${given}".`);
}

/** A class's limits, with some of them replaced. */
export function limitsOf(
  deploymentClass: DeploymentClass,
  replaced: Partial<ClassLimits> = {},
): ClassLimits {
  const limits = { ...CLASS_LIMITS[deploymentClass], ...replaced };
  for (const [name, limit] of Object.entries(limits)) {
    if (limit >= 1 && !Number.isNaN(limit)) continue;
    throw new Error(`classLimits.${name} must be at least 1, got ${limit}.`);
  }
  return limits;
}
