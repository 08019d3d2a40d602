/**
 * The expected outcome of an action, written into the page's query results before the backend answers. With the answer, Convex
 * drops this and shows the real results.
 */
import type { OptimisticLocalStore } from "convex/browser";
import {
  CANCELABLE_STATUSES,
  dashboardCalls,
  type DashboardApi,
  type DashboardJob,
  type JobFilter,
  type JobPage,
  type JobStatus,
  type ListedJob,
  type QueueState,
  type Status,
  withoutUndefined,
} from "../../shared/index.js";

/** Changes a queue's state wherever it is shown. */
export function changeQueue(
  store: OptimisticLocalStore,
  api: DashboardApi,
  queue: string,
  change: (state: QueueState) => QueueState,
): void {
  const { read } = dashboardCalls(api);
  const all = read({ kind: "overview" });
  const overview = store.getQuery(...all);
  if (overview !== undefined) {
    const queues = overview.queues.map((one) =>
      one.state.name === queue ? { ...one, state: change(one.state) } : one,
    );
    store.setQuery(...all, { ...overview, queues });
  }
  const one = read({ kind: "queue", queue });
  const alone = store.getQuery(...one);
  if (alone) store.setQuery(...one, { ...alone, state: change(alone.state) });
}

/** Paused since now. */
export const paused = (state: QueueState): QueueState => ({ ...state, pausedAt: Date.now() });

/** Drains since now. */
export const draining = (state: QueueState): QueueState => ({
  ...state,
  drainingAt: Date.now(),
  drained: false,
});

/** Neither paused nor draining. */
export function resumed(state: QueueState): QueueState {
  const { pausedAt: _, drainingAt: _at, drained: _is, ...rest } = state;
  return rest;
}

type OneJob = { queue: string; id: string };

/** The job after a change; `null` when it is deleted. */
export interface JobChange {
  job: (job: JobStatus) => JobStatus | null;
  row: (row: ListedJob) => ListedJob | null;
}

/** Changes a job on its own page, and its row in every list. */
export function changeJob(
  store: OptimisticLocalStore,
  api: DashboardApi,
  { queue, id }: OneJob,
  change: JobChange,
): void {
  const one = dashboardCalls(api).read({ kind: "job", queue, id });
  const shown = store.getQuery(...one);
  if (shown) store.setQuery(...one, changed(shown, change));
  changeRows(store, api, queue, (row) => (row.id === id ? change.row(row) : row));
}

function changed(shown: DashboardJob, change: JobChange): DashboardJob | null {
  const job = change.job(shown.job);
  return job === null ? null : { ...shown, job };
}

/** Changes the rows of a filter; `usual` are the statuses of a filter that names none. */
export function changeMeant(
  store: OptimisticLocalStore,
  api: DashboardApi,
  { queue, filter }: { queue: string; filter: JobFilter },
  change: JobChange,
  usual: readonly Status[],
): void {
  const whole = { ...filter, statuses: filter.statuses ?? [...usual] };
  changeRows(store, api, queue, (row) => (isMeant(row, whole) ? change.row(row) : row));
}

/** As far as the fields of a row tell. */
function isMeant(row: ListedJob, { statuses, name, group, tags }: JobFilter): boolean {
  return (
    (statuses === undefined || statuses.includes(row.status)) &&
    (name === undefined || row.name === name) &&
    (group === undefined || row.group === group) &&
    (tags === undefined || tags.some((tag) => row.tags?.includes(tag)))
  );
}

/** Changes rows of a queue's lists; a row leaves a list of another status. */
function changeRows(
  store: OptimisticLocalStore,
  api: DashboardApi,
  queue: string,
  change: (row: ListedJob) => ListedJob | null,
): void {
  for (const { args, value } of store.getAllQueries(api.read)) {
    const { call } = args;
    if (value === undefined || call.kind !== "list" || call.queue !== queue) continue;
    const { status } = call.filter;
    const listed = value as JobPage;
    const page = listed.page
      .map((row) => change(row))
      .filter((row) => row !== null)
      .filter((row) => status === undefined || row.status === status);
    store.setQuery(api.read, args, { ...listed, page });
  }
}

const mayEndAtOnce = (status: Status) =>
  (CANCELABLE_STATUSES as readonly Status[]).includes(status);

/** A waiting job ends at once; for a running job, the cancel is requested. */
export const canceled: JobChange = {
  job(job) {
    if (job.status === "running") return { ...job, cancelRequestedAt: Date.now() };
    if (!mayEndAtOnce(job.status)) return job;
    return { ...commonOf(job), status: "canceled", finishedAt: Date.now() };
  },
  row(row) {
    if (row.status === "running") return { ...row, cancelRequestedAt: Date.now() };
    if (!mayEndAtOnce(row.status)) return row;
    return { ...row, status: "canceled", finishedAt: Date.now() };
  },
};

/** Claimable again. */
export const retried: JobChange = {
  job: (job) => ({ ...commonOf(job), status: "pending" }),
  row: (row) => ({ ...row, status: "pending" }),
};

/** Gone. */
export const deleted: JobChange = { job: () => null, row: () => null };

/** The fields of a job in every status. */
function commonOf(job: JobStatus) {
  const { id, queue, enqueuedAt, attempt, failures, resets, ...rest } = job;
  const { name, priority, key, group, tags, labels, cost } = rest;
  const given = { name, priority, key, group, tags, labels, cost };
  return {
    ...{ id, queue, enqueuedAt, attempt, failures, resets },
    ...withoutUndefined(given),
  };
}
