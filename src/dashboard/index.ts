/**
 * `convex-conveyor/dashboard`: a dashboard of queues, jobs and workers, whole or by view, for pages of an app. Its styles are
 * `convex-conveyor/dashboard.css`.
 * @module
 */
export { Dashboard, type DashboardProps } from "./Dashboard.js";
export { Overview } from "./overview/Overview.js";
export { QueueView } from "./queue/QueueView.js";
export { JobView } from "./job/JobView.js";
export { WorkersView } from "./workers/WorkersView.js";
export { hashRouting, type Routing } from "./routing.js";
export type { ViewProps } from "./frame/Root.js";
export { DEFAULT_LABELS, type JobsMeant } from "./labels.js";
export type { LabelOverrides, Labels } from "./labelOverrides.js";
export { dashboardCalls, type DashboardApi } from "../shared/index.js";
