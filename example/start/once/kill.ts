/** Kills a worker at a moment when, by the backend's own word, it holds tiles. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ConvexClient } from "convex/browser";
import { api } from "../../convex/_generated/api.js";
import type { Child } from "../child.js";

export interface Held {
  /** The job. */
  readonly id: string;
  readonly attempt: number;
}

/** How long a call that the worker had already sent may still be under way. */
const SETTLE_MS = 500;
const TRIES = 20;

/**
 * Freezes the worker, asks for its jobs, and kills it only if it has any: between asking and killing it could otherwise
 * report its last tile, and the test would pass without having tested anything.
 */
export async function killWhileHolding(
  client: ConvexClient,
  victim: Child,
): Promise<readonly Held[]> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    victim.signal("SIGSTOP");
    await sleep(SETTLE_MS);
    const held = await heldBy(client, victim.name);
    if (held.length > 0) {
      victim.signal("SIGKILL");
      await victim.ended;
      return held;
    }
    victim.signal("SIGCONT");
    await sleep(50);
  }
  throw new Error(
    `${victim.name} never held a tile when asked; there was nothing to take from it.`,
  );
}

async function heldBy(client: ConvexClient, name: string): Promise<readonly Held[]> {
  const workers = await client.query(api.queue.farm.workers, {});
  const worker = workers.find((one) => one.name === name);
  if (worker === undefined) throw new Error(`The backend knows of no worker named ${name}.`);
  return worker.holding.map(({ id, attempt }) => ({ id, attempt }));
}
