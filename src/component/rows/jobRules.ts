/**
 * The rules that a job has of its own, interned: the only writer of `jobRules`. A job without a row follows its queue,
 * also when the queue's configuration changes while it waits.
 */
import {
  conveyorError,
  TOKEN_RULES_MAX,
  type JobRules,
  type QueueConfig,
} from "../../shared/index.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { DatabaseReader, DatabaseWriter } from "../_generated/server.js";
import { canonicalJson, type Queue, type Settings } from "./queues.js";

/** The rules in force for one job: its own rules before its queue's. */
export type Rules = Pick<Settings, "retry" | "maxResets" | "leaseMs" | "graceMs" | "logLevel"> &
  Pick<QueueConfig, "timeoutMs" | "onComplete" | "onCompleteExclude" | "handler">;

/**
 * The row of these rules, inserted if they are new. `token`: a worker's job brings them, and such a token brings so many; it
 * reads the last of that token's rows for real, and so conflicts with another new one of it.
 */
export async function internRules(
  db: DatabaseWriter,
  rules: JobRules,
  token?: Id<"tokens">,
): Promise<Id<"jobRules">> {
  const key = canonicalJson(rules);
  const row = await db
    .query("jobRules")
    .withIndex("key", (q) => q.eq("key", key))
    .first();
  if (row !== null) return row._id;
  if (token === undefined) return await db.insert("jobRules", { key, rules });
  const last = await db
    .query("jobRules")
    .withIndex("token", (q) => q.eq("token", token))
    .order("desc")
    .first();
  const count = (last?.count ?? 0) + 1;
  if (count <= TOKEN_RULES_MAX) return await db.insert("jobRules", { key, rules, token, count });
  throw conveyorError(
    "invalidArgument",
    `The workers of one token may bring ${TOKEN_RULES_MAX} different rules of jobs (retry, timeoutMs, leaseMs, maxResets), of which ` +
      "a row each is kept for good; these are more. Continue with one of the rules used before, or with the queue's own.",
    { argument: "options", max: TOKEN_RULES_MAX },
  );
}

/** Interns the rules of many jobs in one transaction, and reads each row once. */
export type StoredRules = (rules: JobRules) => Promise<Id<"jobRules"> | undefined>;

export function storedRules(db: DatabaseWriter, token?: Id<"tokens">): StoredRules {
  const known = new Map<string, Id<"jobRules">>();
  return async (rules) => {
    const normal = normalRules(rules);
    const key = canonicalJson(normal);
    if (key === "{}") return undefined;
    const id = known.get(key) ?? (await internRules(db, normal, token));
    known.set(key, id);
    return id;
  };
}

/** Rules that mean the same are written the same. An empty list is a rule too: the queue's may exclude some. */
function normalRules({ onCompleteExclude, ...rules }: JobRules): JobRules {
  if (onCompleteExclude === undefined) return rules;
  return { ...rules, onCompleteExclude: [...new Set(onCompleteExclude)].sort() };
}

/** Whether the job brings the handler that its queue has not. */
export async function bringsHandler(
  db: DatabaseReader,
  { rules }: Pick<Doc<"jobs">, "rules">,
): Promise<boolean> {
  const row = rules === undefined ? null : await db.get("jobRules", rules);
  return row?.rules.handler !== undefined;
}

/** The rules in force for the job. */
export async function rulesOf(
  db: DatabaseReader,
  queue: Queue,
  job: Pick<Doc<"jobs">, "rules">,
): Promise<Rules> {
  if (job.rules === undefined) return queue.config;
  const row = await db.get("jobRules", job.rules);
  return { ...queue.config, ...row?.rules };
}
