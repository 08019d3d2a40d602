/** The work of handlers, where somebody brings their own: `--handlers`, see `docs/testing.md`. Here nobody does. */
import type { Attempt, Tools } from "./turns.js";

/** Does a job's work, in an action or in a worker outside. What it throws fails the attempt. */
export type Handle = (
  job: Attempt & { idempotencyKey: string },
  tools: Tools & { fetch: typeof fetch },
) => Promise<void>;

export const handle: Handle | null = null;
