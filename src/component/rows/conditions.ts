/**
 * The jobs that a claimer may take: its conditions, checked and brought into one form, and the routes that they leave
 * it. Pure but for the errors. Claims, `hasWork` and `peek` all use these functions, so that none promises a job that
 * another refuses.
 */
import {
  checkInteger,
  checkLength,
  CLAIM_GROUPS_MAX,
  conveyorError,
  COST_DEFAULT,
  COST_MAX,
  hasLabel,
  KEY_MAX_LENGTH,
  normalLabels,
  OFFER_MAX_BYTES,
  OFFERED_LABELS_MAX,
  serves,
  stableHash,
  type Conditions,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { Route } from "./routes.js";

/** Conditions as they are compared. */
export interface Offer {
  labels: readonly string[];
  maxCost: number | undefined;
  /** Sorted; empty for jobs of every group and of none. */
  groups: readonly string[];
  /** In place of groups: jobs of all groups that begin with it. */
  groupPrefix?: string | undefined;
  /** The name of the worker, of a lane the empty one. Absent: a worker of any name. */
  worker?: string;
}

/** Conditions as a call has them; absent ones are left out or `undefined`. */
type Given = { [Field in keyof Conditions]: Conditions[Field] | undefined } & {
  groupPrefix?: string | undefined;
};

export function offerOf({ labels = [], maxCost, groups, groupPrefix }: Given): Offer {
  checkLength("The labels of a worker", labels, 0, OFFERED_LABELS_MAX);
  for (const label of labels) checkString("A label of a worker", label);
  if (maxCost !== undefined) checkInteger("maxCost", maxCost, 1, COST_MAX);
  // A list without a group would be a worker that takes nothing: a mistake, and one that would be hard to find.
  if (groups !== undefined) checkLength("The groups of a worker", groups, 1, CLAIM_GROUPS_MAX);
  for (const group of groups ?? []) checkString("A group of a worker", group);
  checkTogether([...labels, ...(groups ?? [])]);
  return {
    ...{ labels: normalLabels(labels), maxCost },
    ...{ groups: normalLabels(groups ?? []), groupPrefix },
  };
}

/** They are kept in the session's row, which sweeps and claims of other workers read. */
function checkTogether(all: readonly string[]): void {
  const bytes = all.reduce((sum, one) => sum + new TextEncoder().encode(one).length, 0);
  if (bytes <= OFFER_MAX_BYTES) return;
  throw conveyorError(
    "invalidArgument",
    `The labels and groups of a worker have ${bytes} bytes together; at most ${OFFER_MAX_BYTES} can be kept. ` +
      "Give it shorter ones, or fewer.",
    { bytes, max: OFFER_MAX_BYTES },
  );
}

/** How long labels and groups may be is for `enqueue` to say; here it only bounds the call. */
function checkString(what: string, value: string): void {
  if (value.length >= 1 && value.length <= KEY_MAX_LENGTH) return;
  throw conveyorError(
    "invalidArgument",
    `${what} must be 1 to ${KEY_MAX_LENGTH} characters; got ${JSON.stringify(value.slice(0, 100))}.`,
    { argument: what, got: value.slice(0, 100) },
  );
}

/** One priority that is in use, and the routes in which jobs of it may wait. */
export interface Level {
  priority: number;
  /** Numbers, with the least that a job there costs. */
  routes: { number: number; minCost: number }[];
}

/** From the highest priority down, where jobs may wait that this offer may take. */
export function levelsOf(routes: readonly Route[], offer: Offer): Level[] {
  const levels = new Map<number, Level>();
  for (const route of routes.filter((one) => serves(one, offer))) {
    for (const priority of route.priorities) {
      const level = levels.get(priority) ?? { priority, routes: [] };
      level.routes.push({ number: route.number, minCost: 2 ** route.costClass });
      levels.set(priority, level);
    }
  }
  return [...levels.values()].sort((a, b) => b.priority - a.priority);
}

export function costOf(job: Pick<Doc<"jobs">, "cost">): number {
  return job.cost ?? COST_DEFAULT;
}

type Asked = Pick<Doc<"jobs">, "labels" | "cost" | "group" | "prefer">;

export function isOfGroups(
  { group }: Asked,
  { groups, groupPrefix }: Pick<Offer, "groups" | "groupPrefix">,
): boolean {
  if (groupPrefix !== undefined) return group?.startsWith(groupPrefix) === true;
  return groups.length === 0 || (group !== undefined && groups.includes(group));
}

/**
 * Whether the job's preference, if it has one, leaves it to this claimer. It knows no clock: when the preference is over the
 * row loses it, and gets a new `seq`.
 */
export function isPreferred(
  { prefer }: Pick<Doc<"jobs">, "prefer">,
  { labels, worker }: Pick<Offer, "labels" | "worker">,
): boolean {
  if (prefer === undefined) return true;
  const isNamed = prefer.worker === undefined || worker === undefined || prefer.worker === worker;
  return isNamed && (prefer.labels ?? []).every((one) => hasLabel(labels, one));
}

/**
 * The conditions as a cursor names them: the groups, or a prefix, in a form that no list of groups has; and a hash of the
 * labels, since rows that prefer others are passed.
 */
export function conditionsKey({ groups, groupPrefix, labels }: Offer): readonly string[] {
  const scope = groupPrefix === undefined ? groups : [groupPrefix, ""];
  return labels.length === 0 ? scope : [...scope, "", `${stableHash(JSON.stringify(labels))}`];
}

/** Whether the offer allows this job, wherever it was found. */
export function allows(offer: Offer, job: Asked): boolean {
  const { labels = [] } = job;
  const affordable = offer.maxCost === undefined || costOf(job) <= offer.maxCost;
  if (!affordable || !isOfGroups(job, offer) || !isPreferred(job, offer)) return false;
  return labels.every((one) => hasLabel(offer.labels, one));
}

/** The fields of an offer that a session's row keeps: none for an offer that takes everything. */
export function offerFields({ labels, groups, groupPrefix, maxCost }: Offer) {
  const some = (list: readonly string[]) => (list.length === 0 ? undefined : [...list]);
  return { labels: some(labels), groups: some(groups), groupPrefix, maxCost };
}
