/**
 * A case: one sentence about the platform's behaviour, and a function that finds out whether a target behaves so. A case uses
 * only official clients and an admin's rights, and nothing of the local backend, unless it says why.
 */
import type { Target } from "./target.js";

export interface Case {
  /** The section it belongs to and a name: `1.2.take-satisfied`. */
  id: string;
  says: string;
  run(target: Target): Promise<void>;
  /** Why `convex-test` is not asked; or its own behaviour, which is held: the case must fail there. */
  convexTest?: string | { differs: string };
  /** It would disturb other cases: it runs by itself, after them. */
  alone?: boolean;
  /** Why it cannot be asked of a real deployment. */
  localOnly?: string;
  /** The local backend's own behaviour. Held: the case must fail there, until it is mended. */
  fails?: string;
}

/** `convex-test` runs one transaction at a time. */
export const NO_CONFLICTS = "single-threaded: no transactions overlap, so there are no conflicts";
/** `convex-test` calls functions in its own process. */
export const NO_WIRE = "in process: there is no server to talk to";

let groups = 0;

/** A name that no other case and no other run has used. */
export function newGroup(): string {
  groups += 1;
  return `group-${crypto.randomUUID()}-${groups}`;
}

/** The words with which something was refused; an error of this suite when it was not. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    const value = await work;
    throw new Accepted(`It was accepted and gave ${String(JSON.stringify(value, plain))}`);
  } catch (error) {
    if (error instanceof Accepted) throw error;
    return error instanceof Error ? error.message : String(error);
  }
}

class Accepted extends Error {}

function plain(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}

/** The commit timestamp that a mutation returned: the placeholder's type covers only its use inside. */
export function commitTs(returned: unknown): bigint {
  if (typeof returned !== "bigint") throw new Error(`No commit timestamp: ${String(returned)}`);
  return returned;
}
