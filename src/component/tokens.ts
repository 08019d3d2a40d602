/**
 * Worker credentials: made and revoked by people, checked by every worker call. Only a hash is kept.
 *
 * `authorize` reads one row by its hash, a real read that conflicts with nothing but a revocation.
 */
import {
  checkLabel,
  checkLength,
  checkName,
  conveyorError,
  QUEUES_MAX,
  TOKENS_MAX,
  type TokenStatus,
} from "../shared/index.js";
import type { Doc, Id } from "./_generated/dataModel.js";
import type { DatabaseReader, MutationCtx, QueryCtx } from "./_generated/server.js";

/** `cvy_<deployment tag>_<secret>`: a prefix for secret scanners, a tag that tells a stray token from a wrong one. */
const TOKEN = /^cvy_([0-9a-f]{8})_([0-9a-f]{64})$/;

/** 256 bits: guessing is hopeless, so that the hash needs neither salt nor stretching. */
const SECRET_BYTES = 32;

export async function createToken(
  ctx: MutationCtx,
  args: { name: string; queues: string[] | null; deployment?: string },
): Promise<{ id: Id<"tokens">; token: string }> {
  checkLabel("The name of a token", args.name);
  if (args.queues !== null) {
    checkLength("The queues of a token", args.queues, 1, QUEUES_MAX);
    for (const queue of args.queues) checkName("A queue of a token", queue);
  }
  // The platform seeds this generator anew, from secure randomness, for every execution of a mutation.
  const secret = hex(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  const token = `cvy_${await deploymentTag(args.deployment)}_${secret}`;
  const id = await ctx.db.insert("tokens", {
    name: args.name,
    hash: await sha256(token),
    queues: args.queues,
    createdAt: Date.now(),
  });
  return { id, token };
}

export async function revokeToken(ctx: MutationCtx, id: string): Promise<null> {
  const tokenId = ctx.db.normalizeId("tokens", id);
  const row = tokenId === null ? null : await ctx.db.get("tokens", tokenId);
  if (row === null) {
    throw conveyorError(
      "tokenUnknown",
      `No worker token has the id ${JSON.stringify(id)}. List the tokens to find it; the token itself is not its id.`,
      { id },
    );
  }
  // Revoked twice is revoked since the first time.
  if (row.revokedAt === undefined) await ctx.db.patch("tokens", row._id, { revokedAt: Date.now() });
  return null;
}

export async function listTokens(ctx: QueryCtx): Promise<TokenStatus[]> {
  const rows = await ctx.db.query("tokens").order("desc").take(TOKENS_MAX);
  return rows.map(({ _id, name, queues, createdAt, revokedAt }) => ({
    id: _id,
    name,
    queues,
    createdAt,
    ...(revokedAt === undefined ? {} : { revokedAt }),
  }));
}

/** The token's row, if it exists, is not revoked, and may serve all of these queues. */
export async function authorize(
  db: DatabaseReader,
  token: string,
  queues: readonly string[],
): Promise<Doc<"tokens">> {
  const hash = await sha256(token);
  const row = await db
    .query("tokens")
    .withIndex("hash", (q) => q.eq("hash", hash))
    .unique();
  if (row === null) throw await unknownToken(token);
  if (row.revokedAt !== undefined) {
    throw conveyorError(
      "tokenRevoked",
      `The worker token "${row.name}" was revoked at ${new Date(row.revokedAt).toISOString()}. ` +
        "Make a new one and start the worker with it.",
      { name: row.name, revokedAt: row.revokedAt },
    );
  }
  const allowed = row.queues;
  const forbidden = allowed === null ? undefined : queues.find((name) => !allowed.includes(name));
  if (forbidden !== undefined) {
    throw conveyorError(
      "queueForbidden",
      `The worker token "${row.name}" may serve ${allowed!.map((name) => `"${name}"`).join(", ")}, not "${forbidden}". ` +
        "Leave the queue out of the worker's handlers, or make a token whose queues include it.",
      { name: row.name, queue: forbidden, allowed: allowed! },
    );
  }
  return row;
}

async function unknownToken(token: string): Promise<Error> {
  const tag = TOKEN.exec(token)?.[1];
  if (tag === undefined) {
    return conveyorError(
      "tokenUnknown",
      'This is no worker token: one begins with "cvy_" and has 77 characters. Pass the whole token, as it was shown.',
    );
  }
  if (tag !== (await deploymentTag(undefined))) {
    return conveyorError(
      "tokenForeign",
      "This worker token was made by another deployment. Check the worker's url, or make a token here.",
      { tag },
    );
  }
  return conveyorError(
    "tokenUnknown",
    "No worker token like this was made here. Check that it was copied whole, or make a new one.",
  );
}

/** The first 8 hex digits of the SHA-256 of the deployment's url. Read in the call: not known when modules load. */
async function deploymentTag(deployment: string | undefined): Promise<string> {
  return (await sha256(deployment ?? process.env.CONVEX_CLOUD_URL ?? "local")).slice(0, 8);
}

async function sha256(text: string): Promise<string> {
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
