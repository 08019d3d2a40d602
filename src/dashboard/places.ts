/** The places of the dashboard, and their addresses. Pure. An address may hold any text. */
import {
  STATUSES,
  type ListFilter,
  type ListOrder,
  type Per,
  type Status,
} from "../shared/index.js";

const QUEUE_TABS = ["jobs", "events", "configuration"] as const;
export type QueueTab = (typeof QUEUE_TABS)[number];
const PERS = ["minute", "hour", "day"] as const satisfies readonly Per[];

/** Tab, time range, filter and order of a queue's page. */
export interface QueueLook {
  readonly tab: QueueTab;
  readonly per: Per;
  readonly filter: ListFilter;
  readonly order: ListOrder;
}

export type Place =
  | { readonly kind: "overview" | "workers" | "nowhere" }
  | { readonly kind: "queue"; readonly queue: string; readonly look: QueueLook }
  | { readonly kind: "job"; readonly queue: string; readonly id: string };

/**
 * The look of a queue without parameters in the address: failed jobs, the newest first, and the last hour by minute. In a busy
 * queue, a list of pending or running jobs changes with every job; the list of failed jobs is read again only with a failure.
 */
export const USUAL_LOOK: QueueLook = {
  tab: "jobs",
  per: "minute",
  filter: { status: "failed" },
  order: "newest",
};

export const overviewPlace: Place = { kind: "overview" };
export const workersPlace: Place = { kind: "workers" };
export const jobPlace = (queue: string, id: string): Place => ({ kind: "job", queue, id });
export const queuePlace = (queue: string, look: Partial<QueueLook> = {}): Place => ({
  kind: "queue",
  queue,
  look: { ...USUAL_LOOK, ...look },
});

/** `/`, `/workers`, `/queues/tiles?status=failed`, `/queues/tiles/jobs/abc`. Defaults are left out. */
export function writePlace(place: Place): string {
  if (place.kind === "workers") return "/workers";
  if (place.kind === "queue") {
    const query = writeLook(place.look).toString();
    return `/queues/${encodeURIComponent(place.queue)}${query && `?${query}`}`;
  }
  if (place.kind === "job") {
    return `/queues/${encodeURIComponent(place.queue)}/jobs/${encodeURIComponent(place.id)}`;
  }
  return "/";
}

export function readPlace(path: string): Place {
  const [before = "", query = ""] = path.split("?", 2);
  const parts = before.split("/").filter((part) => part !== "");
  const [kind, queue, jobs, id] = parts.map(decode);
  if (parts.length === 0) return overviewPlace;
  if (kind === "workers" && parts.length === 1) return workersPlace;
  if (kind === "queues" && queue !== undefined) {
    if (parts.length === 2) return { kind: "queue", queue, look: readLook(query) };
    if (jobs === "jobs" && id !== undefined && parts.length === 4) return jobPlace(queue, id);
  }
  return { kind: "nowhere" };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const TEXTS = ["name", "worker", "tag", "group"] as const;

function writeLook({ tab, per, filter, order }: QueueLook): URLSearchParams {
  const query = new URLSearchParams();
  if (tab !== USUAL_LOOK.tab) query.set("show", tab);
  if (per !== USUAL_LOOK.per) query.set("per", per);
  if (order !== USUAL_LOOK.order) query.set("order", order);
  if (filter.status !== USUAL_LOOK.filter.status) query.set("status", filter.status ?? "any");
  for (const name of TEXTS) {
    const value = filter[name];
    if (value !== undefined && value !== "") query.set(name, value);
  }
  return query;
}

function readLook(text: string): QueueLook {
  const query = new URLSearchParams(text);
  const filter: ListFilter = {};
  for (const name of TEXTS) {
    const value = query.get(name);
    if (value) filter[name] = value;
  }
  const status = query.get("status");
  if (status !== "any") {
    filter.status = oneOf<Status>(STATUSES, status, USUAL_LOOK.filter.status!);
  }
  return {
    tab: oneOf(QUEUE_TABS, query.get("show"), USUAL_LOOK.tab),
    per: oneOf(PERS, query.get("per"), USUAL_LOOK.per),
    order: oneOf(["newest", "next"] as const, query.get("order"), USUAL_LOOK.order),
    filter,
  };
}

function oneOf<Word extends string>(
  words: readonly Word[],
  given: string | null,
  usual: Word,
): Word {
  return words.find((word) => word === given) ?? usual;
}
