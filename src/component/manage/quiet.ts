/**
 * Quiet workers: an operator has one worker claim nothing, and claim again.
 *
 * The mark lies in the session's row, which each call of the worker reads: a claim that commits later takes no job. The
 * worker learns of it from the answer to its next call, and subscribes to `isQuiet` from then on.
 *
 * `quietWorker`, `resumeWorker`: reads for real, and writes: the session's row. Conflicts with: a call of that worker on
 * its way; one of the two retries. `isQuiet` reads for real: the token, the session's row, which an idle worker's beats
 * write once per minute.
 */
import { conveyorError } from "../../shared/index.js";
import type { MutationCtx, QueryCtx } from "../_generated/server.js";
import { findSession, setQuiet } from "../rows/sessions.js";
import { authorize } from "../rows/tokens.js";

/** `changed` is false where it was so already. */
export async function quietWorker(
  ctx: MutationCtx,
  id: string,
  isQuiet: boolean,
): Promise<{ changed: boolean }> {
  const known = ctx.db.normalizeId("sessions", id);
  const session = known === null ? null : await ctx.db.get("sessions", known);
  if (session === null || session.lane !== undefined) throw unknownWorker(id);
  if ((session.isQuiet === true) === isQuiet) return { changed: false };
  await setQuiet(ctx.db, session._id, isQuiet || undefined);
  return { changed: true };
}

export async function isQuiet(
  ctx: QueryCtx,
  args: { token: string; sessionKey: string },
): Promise<boolean> {
  const token = await authorize(ctx.db, args.token, []);
  const session = await findSession(ctx.db, args.sessionKey, token);
  return session?.isQuiet === true;
}

function unknownWorker(id: string): Error {
  const cut = id.slice(0, 100);
  return conveyorError(
    "unknownWorker",
    `No worker has the id ${JSON.stringify(cut)}. Take the \`id\` from \`workers\`; lanes, which have none to give, stop ` +
      "with `pauseQueue`.",
    { id: cut },
  );
}
