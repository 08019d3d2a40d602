/** Handlers of the user's own, in place of the ones that only wait: see `docs/internals/testing.md`. */
import path from "node:path";
import type { Bug } from "../planted/change.js";

/** `file` exports `handle`. */
export function ownHandlers(file: string): Bug {
  const from = JSON.stringify(path.resolve(file));
  return {
    name: "the user's own handlers",
    changes: [
      { in: "app/own.ts", value: "handle", is: "ownHandle" },
      { in: "app/own.ts", adds: `import { handle as ownHandle } from ${from};` },
    ],
  };
}

/** The service that they call, at a reserved name (RFC 2606). */
export const EFFECTS_HOST = "effects.invalid";

/** The difference between a repeated request and its first; `null` if there is none. */
export function effectsChecked(): (request: Request) => Promise<string | null> {
  const bodies = new Map<string, string>();
  return async (request) => {
    const key = request.headers.get("idempotency-key");
    if (key === null) return `${request.method} ${request.url} has no idempotency-key`;
    const body = `${request.method} ${request.url} ${await request.text()}`;
    const before = bodies.get(key);
    bodies.set(key, before ?? body);
    if (before === undefined || before === body) return null;
    return `the idempotency-key ${key} came with "${before}", and then with "${body}"`;
  };
}
