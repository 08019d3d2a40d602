/** One job: its status with reasons, its timeline, payload, result, log and output. */
import type { DashboardJob } from "../../shared/index.js";
import { isFinished } from "../../shared/index.js";
import { useLabels, useRead } from "../frame/context.js";
import { Surrounded, type ViewProps } from "../frame/Root.js";
import { Guard } from "../parts/Guard.js";
import { Heading } from "../parts/Heading.js";
import { Link } from "../parts/Link.js";
import { Notice } from "../parts/Notice.js";
import { Panel } from "../parts/Panel.js";
import { Skeleton } from "../parts/Skeleton.js";
import { overviewPlace, queuePlace } from "../places.js";
import { Carried } from "./Carried.js";
import { JobActions } from "./JobActions.js";
import { JobFacts } from "./JobFacts.js";
import { Log } from "./Log.js";
import { Output } from "./Output.js";
import { Timeline } from "./Timeline.js";
import { Why } from "./Why.js";

export interface JobViewProps extends ViewProps {
  /** Its queue's name. */
  queue: string;
  /** As `enqueue` returned it. */
  id: string;
}

/**
 * A job: its status, the reasons why it does not run with its position in the queue, its attempts with their errors, payload and
 * result, live progress, log and output, and the actions that the reader may take.
 *
 * @example
 * import { JobView } from "convex-conveyor/dashboard";
 * <JobView api={api.dashboard} queue="tiles" id={job} />;
 */
export function JobView({ queue, id, ...props }: JobViewProps) {
  return (
    <Surrounded {...props}>
      <View queue={queue} id={id} />
    </Surrounded>
  );
}

function View({ queue, id }: { queue: string; id: string }) {
  const { page, job } = useLabels();
  return (
    <div className="cv-view">
      <nav className="cv-crumbs" aria-label={page.breadcrumb}>
        <Link to={overviewPlace}>{page.queues}</Link> <span aria-hidden="true">›</span>{" "}
        <Link to={queuePlace(queue)}>{queue}</Link>
      </nav>
      <Guard label={job.part} heading={job.job} of={`${queue}/${id}`}>
        <Job queue={queue} id={id} />
      </Guard>
    </div>
  );
}

function Job({ queue, id }: { queue: string; id: string }) {
  const shown = useRead({ kind: "job", queue, id });
  const labels = useLabels().job;
  const title = shown === null ? labels.notFound : (shown?.job.name ?? labels.job);
  return (
    <>
      {/* One heading while the job loads and after: it may have the focus. */}
      <div className="cv-job-head">
        <Heading>{title}</Heading>
        {shown && <JobActions shown={shown} />}
      </div>
      {shown === undefined && <Skeleton lines={5} tall />}
      {shown === null && (
        <Notice title={labels.notFoundIn(queue)}>
          <p>
            {labels.notFoundText} <code className="cv-code">{id}</code>
          </p>
          <Link to={queuePlace(queue)}>{labels.toQueue(queue)}</Link>
        </Notice>
      )}
      {shown && <Shown shown={shown} />}
    </>
  );
}

function Shown({ shown }: { shown: DashboardJob }) {
  const { job, payload, attempts } = shown;
  const { queue, id } = job;
  const about = `${queue}/${id}`;
  const labels = useLabels().job;
  return (
    <>
      <JobFacts job={job} />
      <div className="cv-columns">
        <div>
          {!isFinished(job.status) && (
            <Panel title={labels.status} of={about}>
              <Why queue={queue} id={id} job={job} />
            </Panel>
          )}
          <Panel title={labels.timeline} of={about}>
            <Timeline job={job} attempts={attempts} />
          </Panel>
        </div>
        <div>
          <Carried job={job} payload={payload} />
        </div>
      </div>
      <Panel title={labels.output} of={about}>
        <Output queue={queue} id={id} />
      </Panel>
      <Panel title={labels.log} of={about}>
        <Log queue={queue} id={id} />
      </Panel>
    </>
  );
}
