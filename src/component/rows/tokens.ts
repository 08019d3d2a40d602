/**
 * Worker credentials: made, rotated and revoked by people, checked by every worker call. Only a hash is kept, in `tokens`, and of
 * secrets that were rotated in `formerSecrets`.
 *
 * `authorize` reads one row by its hash, a real read that conflicts with nothing but a rotation or revocation. When a token
 * was last used is not written down, which would be a write a call: its sessions say when they were last seen.
 */
import type { FunctionHandle } from "convex/server";
import {
  checkInteger,
  checkLabel,
  checkLength,
  checkName,
  CLAIM_GROUPS_MAX,
  conveyorError,
  GROUP_MAX_LENGTH,
  groupsWithin,
  normalLabels,
  QUEUES_MAX,
  ROTATION_GRACE_MAX_MS,
  TOKEN_GROUPS_MAX_BYTES,
  TOKENS_MAX,
  type Conditions,
  type GroupScope,
  type GroupsOfArgs,
  type TokenScope,
  type TokenStatus,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { DatabaseReader, MutationCtx, QueryCtx } from "../_generated/server.js";

/**
 * `cvy_<deployment tag>_<secret>`: a prefix for secret scanners, a tag that distinguishes a stray token from a wrong
 * one.
 */
const TOKEN = /^cvy_([0-9a-f]{8})_([0-9a-f]{64})$/;

/** 256 bits: guessing is hopeless, so that the hash needs neither salt nor stretching. */
const SECRET_BYTES = 32;

export async function createToken(
  ctx: MutationCtx,
  args: { name: string; queues: string[] | null; groups?: GroupScope | null; deployment?: string },
): Promise<{ id: Id<"tokens">; token: string }> {
  checkLabel("The name of a token", args.name);
  if (args.queues !== null) {
    checkLength("The queues of a token", args.queues, 1, QUEUES_MAX);
    for (const queue of args.queues) checkName("A queue of a token", queue);
  }
  if (args.groups) checkScope(args.groups);
  const token = await newSecret(args.deployment);
  const id = await ctx.db.insert("tokens", {
    name: args.name,
    hash: await sha256(token),
    queues: args.queues,
    ...(args.groups ? { groups: normalScope(args.groups) } : {}),
    createdAt: Date.now(),
  });
  return { id, token };
}

function checkScope(groups: GroupScope): void {
  if (groups === "byQuery") return;
  if (Array.isArray(groups)) return checkGroups(groups);
  checkLabel("The prefix of a token's groups", groups.prefix, GROUP_MAX_LENGTH);
}

function normalScope(groups: GroupScope): GroupScope {
  return Array.isArray(groups) ? normalLabels(groups) : groups;
}

/** Each is compared with every row that a claim sees, and all of them are kept in the sessions' rows beside their labels. */
function checkGroups(groups: readonly string[]): void {
  checkLength("The groups of a token", groups, 1, CLAIM_GROUPS_MAX);
  for (const group of groups) checkLabel("A group of a token", group, GROUP_MAX_LENGTH);
  const bytes = groups.reduce((sum, one) => sum + new TextEncoder().encode(one).length, 0);
  checkInteger("All groups of a token together, in bytes,", bytes, 1, TOKEN_GROUPS_MAX_BYTES);
}

async function newSecret(deployment: string | undefined): Promise<string> {
  // The platform seeds this generator anew, from secure randomness, for every execution of a mutation.
  const secret = hex(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  return `cvy_${await deploymentTag(deployment)}_${secret}`;
}

/**
 * Gives a token a new secret. Its identity, queues and sessions stay, so that a worker which is started with the new
 * one has the same identity. The last secret is refused at once, or after `graceMs`; earlier secrets keep the grace
 * that they have.
 */
export async function rotateToken(
  ctx: MutationCtx,
  { id, graceMs = 0, deployment }: { id: string; graceMs?: number; deployment?: string },
): Promise<{ token: string }> {
  checkInteger("graceMs", graceMs, 0, ROTATION_GRACE_MAX_MS);
  const row = await getToken(ctx.db, id);
  if (row.revokedAt !== undefined) throw revoked(row, row.revokedAt);
  const token = await newSecret(deployment);
  const now = Date.now();
  const until = now + graceMs;
  const last = await forgetFormer(ctx, row, now);
  await ctx.db.insert("formerSecrets", { token: row._id, hash: row.hash, until });
  await ctx.db.patch("tokens", row._id, {
    hash: await sha256(token),
    rotatedAt: now,
    previousUntil: Math.max(last, until) > now ? Math.max(last, until) : undefined,
  });
  return { token };
}

/** Former secrets of a token that are let in at once, and former secrets that are remembered after their time. */
const FORMER_MAX = 16;
const FORMER_REMEMBERED = 8;

/**
 * Makes room for another former secret: forgets the secrets that expired longest ago. Refuses where too many are let
 * in, since each was promised its time. Returns until when the last of them is let in.
 */
async function forgetFormer(ctx: MutationCtx, row: Doc<"tokens">, now: number): Promise<number> {
  const of = await ctx.db
    .query("formerSecrets")
    .withIndex("token", (q) => q.eq("token", row._id))
    .collect();
  const ended = of.filter(({ until }) => until <= now);
  if (of.length - ended.length >= FORMER_MAX) {
    throw conveyorError(
      "invalidArgument",
      `The worker token "${row.name}" has ${FORMER_MAX} former secrets that are still let in. ` +
        "Rotate it again when the grace of one is over, or revoke it and make another.",
      { name: row.name, max: FORMER_MAX },
    );
  }
  for (const { _id } of ended.slice(0, Math.max(0, ended.length - FORMER_REMEMBERED + 1)))
    await ctx.db.delete("formerSecrets", _id);
  return of.at(-1)?.until ?? 0;
}

/** Refuses a token from now on, and ends the leases of its sessions at once: none of them can report any more. */
export async function revokeToken(ctx: MutationCtx, id: string): Promise<null> {
  const row = await getToken(ctx.db, id);
  // Revoked twice is revoked since the first time.
  if (row.revokedAt !== undefined) return null;
  await ctx.db.patch("tokens", row._id, { revokedAt: Date.now() });
  await ctx.scheduler.runAfter(0, internal.tend.revoked.endRevokedSessions, {
    token: row._id,
    after: 0,
  });
  return null;
}

async function getToken(db: DatabaseReader, id: string): Promise<Doc<"tokens">> {
  const tokenId = db.normalizeId("tokens", id);
  const row = tokenId === null ? null : await db.get("tokens", tokenId);
  if (row !== null) return row;
  const cut = id.slice(0, 100);
  throw conveyorError(
    "tokenUnknown",
    `No worker token has the id ${JSON.stringify(cut)}. List the tokens to find it; the token itself is not its id.`,
    { id: cut },
  );
}

/** The last that were made, or tokens made before the one of the id `after`, the newest first. */
export async function listTokens(ctx: QueryCtx, after?: string): Promise<TokenStatus[]> {
  const before = after === undefined ? Infinity : (await getToken(ctx.db, after))._creationTime;
  const rows = await ctx.db
    .query("tokens")
    .withIndex("by_creation_time", (q) => q.lt("_creationTime", before))
    .order("desc")
    .take(TOKENS_MAX);
  return rows.map((row) => {
    const { createdAt, revokedAt, rotatedAt, previousUntil, overQuotaUntil } = row;
    return {
      ...scopeOf(row),
      createdAt,
      ...(rotatedAt === undefined ? {} : { rotatedAt }),
      ...(previousUntil === undefined ? {} : { previousUntil }),
      ...(revokedAt === undefined ? {} : { revokedAt }),
      ...(overQuotaUntil === undefined ? {} : { overQuotaUntil }),
    };
  });
}

/** A token's scope, as people and the app's `authorize` receive it. */
export function scopeOf({ _id, name, queues, groups }: Doc<"tokens">): TokenScope {
  return { id: _id, name, queues, groups: groups ?? null };
}

/** Throws unless the token is a worker's. Its reads are the reads of {@link authorize}. */
export async function checkToken(ctx: QueryCtx, token: string): Promise<TokenScope> {
  return scopeOf(await authorize(ctx.db, token, []));
}

/** What a call that searches asks for. `groupsOf`: the handle of the app's query, for tokens that name it. */
type Asked = Conditions & { queues: unknown[]; groupsOf?: string };

/**
 * A call's conditions, of jobs that the token is for. Refuses a group that is not the token's. Of a token with `byQuery`
 * such a group is left out, since it may have been the token's a moment ago: with none left, no queue is searched. Nor is any
 * with a token that has been revoked since the call was authorized.
 *
 * Of such a token it runs the app's query in the call's transaction, and so depends on what that reads: a
 * claim and a change of the app's rows, as of memberships, conflict, and the one that commits later retries.
 */
export async function within<One extends Asked>(
  ctx: QueryCtx,
  token: Doc<"tokens">,
  asked: One,
): Promise<One & { groupPrefix?: string }> {
  const scope = scopeOf(token);
  if (token.revokedAt !== undefined) return { ...asked, queues: [] };
  if (scope.groups === "byQuery") {
    const answered = await askApp(ctx, scope, asked.groupsOf);
    const groups = answered.filter((group) => asked.groups?.includes(group) !== false);
    return groups.length > 0 ? { ...asked, groups } : { ...asked, queues: [] };
  }
  const groups = groupsWithin(scope, asked.groups);
  if (groups === null || groups === "byQuery") return asked;
  return Array.isArray(groups) ? { ...asked, groups } : { ...asked, groupPrefix: groups.prefix };
}

async function askApp(
  ctx: QueryCtx,
  { id, name }: TokenScope,
  groupsOf: string | undefined,
): Promise<string[]> {
  if (groupsOf === undefined) {
    throw conveyorError(
      "groupForbidden",
      `The worker token "${name}" is for the groups that a query of the app answers, and the app names none. ` +
        "Give `groupsOf` to `conveyor.workerApi`, or make a token with a list of groups.",
      { name, allowed: "byQuery" },
    );
  }
  const query = groupsOf as FunctionHandle<"query", GroupsOfArgs>;
  const groups: unknown = await ctx.runQuery(query, { id, name });
  if (!Array.isArray(groups) || groups.some((group) => typeof group !== "string")) {
    throw conveyorError(
      "invalidArgument",
      `\`groupsOf\` of workerApi must answer a list of groups for the worker token "${name}"; got ${typeof groups}.`,
      { argument: "groupsOf", name },
    );
  }
  if (groups.length > 0) checkGroups(groups as string[]);
  return normalLabels(groups as string[]);
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
  const known = row ?? (await findPrevious(db, hash));
  if (known === null) throw await unknownToken(token);
  if (known.revokedAt !== undefined) throw revoked(known, known.revokedAt);
  const allowed = known.queues;
  const forbidden = allowed === null ? undefined : queues.find((name) => !allowed.includes(name));
  if (forbidden !== undefined) {
    throw conveyorError(
      "queueForbidden",
      `The worker token "${known.name}" may serve ${allowed!.map((name) => `"${name}"`).join(", ")}, not "${forbidden}". ` +
        "Leave the queue out of the worker's handlers, or make a token for queues that include it.",
      { name: known.name, queue: forbidden, allowed: allowed! },
    );
  }
  return known;
}

/** The token that had this secret before it was rotated. Read only where no token has the secret now. */
async function findPrevious(db: DatabaseReader, hash: string): Promise<Doc<"tokens"> | null> {
  const former = await db
    .query("formerSecrets")
    .withIndex("hash", (q) => q.eq("hash", hash))
    .first();
  const row = former === null ? null : await db.get("tokens", former.token);
  if (former === null || row === null || row.revokedAt !== undefined || former.until > Date.now())
    return row;
  throw conveyorError(
    "tokenRevoked",
    `The worker token "${row.name}" was given a new secret; this one ended at ${new Date(former.until).toISOString()}. ` +
      "Start the worker with the new one.",
    { name: row.name, revokedAt: former.until },
  );
}

function revoked({ name }: Doc<"tokens">, revokedAt: number): Error {
  return conveyorError(
    "tokenRevoked",
    `The worker token "${name}" was revoked at ${new Date(revokedAt).toISOString()}. ` +
      "Make a new one and start the worker with it.",
    { name, revokedAt },
  );
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

/**
 * The id of a session as people see it: a call of it takes its id and its token, and a token may be shared. Of a
 * session it is the same always.
 */
export async function shownSession(sessionKey: string): Promise<string> {
  return (await sha256(`session ${sessionKey}`)).slice(0, 16);
}

async function sha256(text: string): Promise<string> {
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
