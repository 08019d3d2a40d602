/**
 * One rule for leave: only `true` is a yes. An answer that is forgotten, misspelt or not awaited refuses.
 */
import { conveyorError, firstCharacters } from "../shared/index.js";

/** Asks the `authorize` that the app has given for some functions. Throws as it throws, or `forbidden`. */
export async function mustAllow<Call extends { kind: string }>(
  authorize: unknown,
  [ctx, call]: readonly [ctx: unknown, call: Call],
  of: string,
): Promise<void> {
  const answer: unknown = typeof authorize === "function" ? await authorize(ctx, call) : undefined;
  if (answer === true) return;
  throw conveyorError(
    "forbidden",
    `You may not do this (${call.kind}): \`authorize\` of ${of} did not answer true. ` +
      "Sign in as an authorized user, or have `authorize` in the app's code return true for this call.",
    { ask: "authorize", kind: call.kind, ...about(call) },
  );
}

/** Of which queue and job the call is, cut: ids and names come from outside. */
function about(call: object): { queue?: string; id?: string } {
  const { queue, id } = call as { queue?: unknown; id?: unknown };
  return {
    ...(typeof queue === "string" ? { queue: firstCharacters(queue, 100) } : {}),
    ...(typeof id === "string" ? { id: firstCharacters(id, 100) } : {}),
  };
}
