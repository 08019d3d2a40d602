/** What a push holds that is accepted and has no effect here: said once it is deployed, so that nobody looks for it. */
import type { ModuleSource } from "../functions/types.js";

const WITHOUT_EFFECT: Record<string, string> = {
  "auth.config.js":
    "auth.config.ts is accepted and has no effect: the local backend does not verify users' tokens yet.",
};

export function notesOn(modules: ReadonlyMap<string, ModuleSource>): string[] {
  return Object.entries(WITHOUT_EFFECT)
    .filter(([path]) => modules.has(path))
    .map(([, note]) => note);
}
