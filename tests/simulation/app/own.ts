/** The work of handlers from a module of the user: `--handlers`, see `docs/internals/testing.md`. By default there is none. */
import type { Attempt, Tools } from "./turns.js";

/** Does a job's work, in an action or in a worker outside. An error that it throws fails the attempt. */
export type Handle = (
  job: Attempt & { idempotencyKey: string },
  tools: Tools & { fetch: typeof fetch },
) => Promise<void>;

export const handle: Handle | null = null;
