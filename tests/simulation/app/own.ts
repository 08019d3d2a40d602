/** The work of handlers, where somebody brings their own: `--handlers`. Here nobody does. */
import type { Attempt, Tools } from "./turns.js";

export const handle: ((attempt: Attempt, tools: Tools) => Promise<void>) | null = null;
