/**
 * Heartbeat: a worker's word that it lives. One small patch renews everything that the session holds.
 *
 * Reads for real: the token, the session's row, the janitor's timers. Writes: the session's row. No job is read: that
 * a lease stands in the row is the truth. Conflicts with: the session's own `complete` beside it, and a janitor that
 * is ending its leases; whichever runs again finds the other's word.
 */
import { checkLength, LEASES_MAX, type Answer, type Lease } from "../shared/index.js";
import type { MutationCtx } from "./_generated/server.js";
import { enterHolder, findLease, renew } from "./holders.js";
import { ensureJanitor } from "./timers.js";
import { authorize } from "./tokens.js";

export async function heartbeat(
  ctx: MutationCtx,
  args: { token: string; session: string; leases: Lease[] },
): Promise<{ answers: Answer[] }> {
  const now = Date.now();
  checkLength("The leases of a heartbeat", args.leases, 0, LEASES_MAX);
  const token = await authorize(ctx.db, args.token, []);
  // A worker that has never claimed is seen under its token's name until it does.
  const caller = { token, session: args.session, name: token.name, queues: [] };
  const holder = await enterHolder(ctx.db, caller, now);
  const named = args.leases.map(({ id, attempt }) => findLease(holder, id, attempt));
  const renewed = await renew(
    ctx.db,
    holder,
    named.filter((lease) => lease !== undefined),
    now,
  );
  // A long job's beats may be the only calls there are, and so the only ones to notice that the janitor has died.
  if (renewed.leases.length > 0) await ensureJanitor(ctx, renewed.expiresAt, now, undefined);
  return {
    answers: args.leases.map(({ id, attempt }, i) => ({
      id,
      attempt,
      answer: named[i] === undefined ? "leaseLost" : "ok",
    })),
  };
}
