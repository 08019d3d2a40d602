/**
 * How much the workers of one token write: log entries, output, jobs to follow. The only writer of `tokenWrites`.
 *
 * A count that each report wrote would be a row at which all workers of a token conflict. So it is kept by sampling: a
 * call of b bytes counts `TOKEN_COUNT_BYTES` with the chance b / `TOKEN_COUNT_BYTES`, and touches nothing otherwise. A
 * token over its quota is marked in its own row, which every call reads.
 *
 * `countWrites`, where it counts, reads for real and writes the token's row of `tokenWrites`, and at the quota writes the
 * token's own, of `tokens`. Conflicts with: other calls that count, about one in 4 MiB; at the quota, once, with every call of the token.
 */
import {
  conveyorError,
  TOKEN_COUNT_BYTES,
  TOKEN_HOUR_BYTES,
  TOKEN_HOUR_MS,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseWriter } from "../_generated/server.js";

/** Throws where the token's workers have written as much as they may. */
export function checkQuota({ name, overQuotaUntil = 0 }: Doc<"tokens">, now: number): void {
  // A mark further ahead is by a clock that was ahead, and has been set back.
  if (overQuotaUntil <= now || overQuotaUntil > now + TOKEN_HOUR_MS) return;
  throw conveyorError(
    "quotaExceeded",
    `The workers of the token "${name}" have written more than ${TOKEN_HOUR_BYTES} bytes of log entries, output and jobs to ` +
      `follow within an hour; until ${new Date(overQuotaUntil).toISOString()} they may write no more of these. ` +
      "Put large values into file storage, or give workers tokens of their own.",
    { name, max: TOKEN_HOUR_BYTES, until: overQuotaUntil },
  );
}

/** Counts a call's bytes, as a rule with the next call that is drawn. */
export async function countWrites(
  db: DatabaseWriter,
  token: Doc<"tokens">,
  bytes: number,
  now: number,
): Promise<void> {
  const drawn = Math.floor(bytes / TOKEN_COUNT_BYTES + Math.random()) * TOKEN_COUNT_BYTES;
  if (drawn === 0) return;
  const row = await db
    .query("tokenWrites")
    .withIndex("token", (q) => q.eq("token", token._id))
    .unique();
  const isOfThisHour = row !== null && Math.abs(now - row.since) < TOKEN_HOUR_MS;
  const since = isOfThisHour ? row.since : now;
  const written = (isOfThisHour ? row.bytes : 0) + drawn;
  const count = { token: token._id, since, bytes: written };
  if (row === null) await db.insert("tokenWrites", count);
  else await db.replace("tokenWrites", row._id, count);
  if (written > TOKEN_HOUR_BYTES)
    await db.patch("tokens", token._id, { overQuotaUntil: since + TOKEN_HOUR_MS });
}
