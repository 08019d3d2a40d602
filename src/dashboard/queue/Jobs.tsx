/** A queue's jobs of one status, narrowed by the typed filters, page by page. */
import type { FunctionReference } from "convex/server";
import { useJobPages } from "../../react/useJobs.js";
import { useApi, useLabels } from "../frame/context.js";
import type {
  CallOf,
  DashboardRead,
  JobPage,
  PageOptions,
  ShownQueue,
} from "../../shared/index.js";
import { Guard } from "../parts/Guard.js";
import { Notice } from "../parts/Notice.js";
import { Panel } from "../parts/Panel.js";
import { Skeleton } from "../parts/Skeleton.js";
import type { QueueLook } from "../places.js";
import { JobFilters } from "./JobFilters.js";
import { JobTable } from "./JobTable.js";
import { ManyActions } from "./ManyActions.js";
import { StateCounts } from "./StateCounts.js";
import { useLook } from "./useLook.js";

const JOBS_ASKED = 50;

export function Jobs({ shown }: { shown: ShownQueue }) {
  const queue = shown.state.name;
  const { look } = useLook(queue);
  const { filter, order } = look;
  const labels = useLabels();
  return (
    <Panel
      title={labels.queue.jobs}
      of={queue}
      beside={<ManyActions queue={shown} filter={filter} />}
    >
      <StateCounts
        queue={queue}
        counts={shown.gauge.counts}
        look={look}
        current={filter.status ?? "any"}
      />
      <JobFilters queue={queue} />
      {/* Guarded alone: a filter that the list refuses can still be changed. */}
      <Guard label={labels.jobs.part} of={JSON.stringify([queue, filter, order])}>
        <Listed queue={queue} look={look} />
      </Guard>
    </Panel>
  );
}

/** The paginated calls of `read`. */
type ListOfDashboard = FunctionReference<
  "query",
  "public",
  { call: CallOf<DashboardRead, "list">; paginationOpts: PageOptions },
  JobPage
>;

function Listed({ queue, look: { filter, order } }: { queue: string; look: QueueLook }) {
  const asked = { call: { kind: "list" as const, queue, filter, order } };
  const list = useApi().read as ListOfDashboard;
  const { results, status, loadMore } = useJobPages(list, asked, { pageSize: JOBS_ASKED });
  const labels = useLabels().jobs;
  if (status === "LoadingFirstPage") return <Skeleton lines={6} />;
  if (results.length === 0 && status === "Exhausted") {
    return <Notice title={labels.empty(filter)} />;
  }
  if (results.length === 0) {
    return (
      <Notice title={labels.noneFound(filter)}>
        <p>{labels.noneFoundText}</p>
        <button
          type="button"
          className="cv-button"
          disabled={status === "LoadingMore"}
          onClick={() => loadMore(JOBS_ASKED)}
        >
          {status === "LoadingMore" ? labels.searching : labels.search}
        </button>
      </Notice>
    );
  }
  return (
    <JobTable
      jobs={results}
      label={labels.label(queue, filter)}
      hasMore={status !== "Exhausted"}
      isLoading={status === "LoadingMore"}
      onMore={() => loadMore(JOBS_ASKED)}
    />
  );
}
