/** The scope of a worker's token: its queues, and its groups. Pure. */
import { v, type Infer } from "convex/values";
import { conveyorError } from "./errors.js";

export const vTokenScope = v.object({
  id: v.string(),
  name: v.string(),
  /** `null`: every queue. */
  queues: v.union(v.array(v.string()), v.null()),
  /** `null`: jobs of every group, and of none. */
  groups: v.union(v.array(v.string()), v.null()),
});
export type TokenScope = Infer<typeof vTokenScope>;

/** The groups of which a call may have jobs: the groups that it names, if the token has them all, or else the token's. */
export function groupsWithin(
  token: Pick<TokenScope, "name" | "groups">,
  asked: readonly string[] | undefined,
): readonly string[] | undefined {
  const { name, groups } = token;
  if (groups === null) return asked;
  const forbidden = asked?.find((group) => !groups.includes(group));
  if (forbidden !== undefined) throw groupForbidden(name, groups, forbidden);
  return asked ?? groups;
}

/** The error of a token that names a group which is not its own. */
export function groupForbidden(name: string, groups: readonly string[], group: string): Error {
  const shown = JSON.stringify(group.slice(0, SHOWN));
  return conveyorError(
    "groupForbidden",
    `The worker token "${name}" is for jobs of ${groups.map((one) => `"${one}"`).join(", ")}, not of the group ${shown}. ` +
      "Leave the group out, or make a token whose groups include it.",
    { name, group: group.slice(0, SHOWN), allowed: [...groups] },
  );
}
const SHOWN = 100;

/** Whether a job is in the token's scope. */
export function covers(
  { queues, groups }: Pick<TokenScope, "queues" | "groups">,
  job: { queue: string; group?: string | undefined },
): boolean {
  const isOfQueue = queues === null || queues.includes(job.queue);
  return isOfQueue && (groups === null || (job.group !== undefined && groups.includes(job.group)));
}
