/**
 * Take back: ends attempts in the very transaction that claimed them, since the app cannot hand them out: it could not
 * read their related data, or there is too much of it for one reply. Their worker never learns of them.
 *
 * It carries no call counter: leases that the claim's repeat finds are answered anew. Reads for real, writes and
 * conflicts as the outcomes of `complete`, of which this is a part; `onComplete` is owed and delivered alone, since a
 * callback that conflicts must not take a claim down with it.
 */
import { checkLeases, LEASES_MAX, type Answer, type Finished } from "../../shared/index.js";
import type { MutationCtx } from "../_generated/server.js";
import { withEffects } from "../edges/applyEffects.js";
import { recordAll } from "./recording.js";
import { findSession, keepLeases } from "../rows/sessions.js";
import { authorize } from "../rows/tokens.js";

export async function takeBack(
  ctx: MutationCtx,
  args: { token: string; sessionKey: string; finished: Finished[] },
): Promise<{ answers: Answer[] }> {
  const now = Date.now();
  checkLeases("The attempts to take back", args.finished, 1, LEASES_MAX);
  const token = await authorize(ctx.db, args.token, []);
  const session = await findSession(ctx.db, args.sessionKey, token);
  if (session === null) {
    return {
      answers: args.finished.map(({ id, attempt }) => ({ id, attempt, answer: "leaseLost" })),
    };
  }
  const step = { now, bySession: true };
  const { answers, leases } = await withEffects(ctx, step, (ctx) =>
    recordAll(ctx, session, args.finished, "worker"),
  );
  await keepLeases(ctx.db, session, leases, now);
  return { answers };
}
