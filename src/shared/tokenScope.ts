/** The scope of a worker's token: its queues, and its groups. Pure. */
import { v, type Infer } from "convex/values";
import { conveyorError } from "./errors.js";

/** The groups of a token: a list; all that begin with a prefix; or `byQuery`, the ones that the app's `groupsOf` answers. */
export const vGroupScope = v.union(
  v.array(v.string()),
  v.object({ prefix: v.string() }),
  v.literal("byQuery"),
);
export type GroupScope = Infer<typeof vGroupScope>;

export const vTokenScope = v.object({
  id: v.string(),
  name: v.string(),
  /** `null`: every queue. */
  queues: v.union(v.array(v.string()), v.null()),
  /** `null`: jobs of every group, and of none. */
  groups: v.union(vGroupScope, v.null()),
});
export type TokenScope = Infer<typeof vTokenScope>;

/** The argument of the app's query that answers the groups of a token. */
export type GroupsOfArgs = {
  /** The token's id. */
  id: string;
  /** Its name. */
  name: string;
};

/**
 * The groups of which a call may have jobs: the groups that it names, if the token has them all, or else the token's.
 * Of a token whose groups the app answers, the groups that a call names are checked where that answer is.
 */
export function groupsWithin(
  { name, groups }: Pick<TokenScope, "name" | "groups">,
  asked: string[] | undefined,
): GroupScope | null {
  if (groups === null) return asked ?? null;
  const forbidden = asked?.find((group) => !hasGroup(groups, group));
  if (forbidden !== undefined) throw groupForbidden(name, groups, forbidden);
  return asked ?? groups;
}

function hasGroup(groups: GroupScope, group: string): boolean {
  if (groups === "byQuery") return true;
  return Array.isArray(groups) ? groups.includes(group) : group.startsWith(groups.prefix);
}

/** The error of a token that names a group which is not its own. */
export function groupForbidden(name: string, groups: GroupScope, group: string): Error {
  const shown = JSON.stringify(group.slice(0, SHOWN));
  return conveyorError(
    "groupForbidden",
    `The worker token "${name}" is for jobs of ${textOf(groups)}, not of the group ${shown}. ` +
      "Leave the group out, or make a token whose groups include it.",
    { name, group: group.slice(0, SHOWN), allowed: groups },
  );
}

function textOf(groups: GroupScope): string {
  if (groups === "byQuery") return "the groups that the app's `groupsOf` answers";
  if (!Array.isArray(groups)) return `groups that begin with "${groups.prefix}"`;
  return groups.map((one) => `"${one}"`).join(", ") || "no group at present";
}
const SHOWN = 100;

/** Whether a job may be in the token's scope: groups that the app answers were checked when it was claimed. */
export function covers(
  { queues, groups }: Pick<TokenScope, "queues" | "groups">,
  job: { queue: string; group?: string | undefined },
): boolean {
  const isOfQueue = queues === null || queues.includes(job.queue);
  return isOfQueue && (groups === null || (job.group !== undefined && hasGroup(groups, job.group)));
}
