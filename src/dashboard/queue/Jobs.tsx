/** A queue's jobs: those of one state, narrowed by what the reader types, page by page. */
import type { FunctionReference } from "convex/server";
import { useJobPages } from "../../react/useJobs.js";
import { useApi } from "../frame/context.js";
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
import { filterWords } from "./meant.js";
import { StateCounts } from "./StateCounts.js";
import { useLook } from "./useLook.js";

const JOBS_ASKED = 50;

export function Jobs({ shown }: { shown: ShownQueue }) {
  const queue = shown.state.name;
  const { look } = useLook(queue);
  const { filter, order } = look;
  return (
    <Panel title="Jobs" of={queue} beside={<ManyActions queue={shown} filter={filter} />}>
      <StateCounts
        queue={queue}
        counts={shown.gauge.counts}
        look={look}
        current={filter.status ?? "any"}
      />
      <JobFilters queue={queue} />
      {/* Alone: a filter that the list refuses must still be there to be changed. */}
      <Guard label="The list" of={JSON.stringify([queue, filter, order])}>
        <Listed queue={queue} look={look} />
      </Guard>
    </Panel>
  );
}

/** Of `read`, the calls that are answered page by page. */
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
  if (status === "LoadingFirstPage") return <Skeleton lines={6} />;
  if (results.length === 0 && status === "Exhausted") {
    return <Notice title={`No ${filterWords(filter)}`} />;
  }
  if (results.length === 0) {
    return (
      <Notice title={`None as yet: ${filterWords(filter)}`}>
        <p>So many jobs were looked through, and there are others.</p>
        <button
          type="button"
          className="cv-button"
          disabled={status === "LoadingMore"}
          onClick={() => loadMore(JOBS_ASKED)}
        >
          {status === "LoadingMore" ? "Looking…" : "Look further"}
        </button>
      </Notice>
    );
  }
  return (
    <JobTable
      jobs={results}
      label={`Jobs of ${queue}: ${filterWords(filter)}`}
      hasMore={status !== "Exhausted"}
      isLoading={status === "LoadingMore"}
      onMore={() => loadMore(JOBS_ASKED)}
    />
  );
}
