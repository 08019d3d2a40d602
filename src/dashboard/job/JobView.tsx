/** One job: where it stands and why, what happened to it, what it carries, says and writes. */
import type { DashboardJob } from "../../shared/index.js";
import { isFinished } from "../../shared/index.js";
import { useRead } from "../frame/context.js";
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
 * A job: its state, why it does not run and where in the queue it stands, its attempts in time with their errors, payload and
 * result, progress, log and streamed output as they come, and what the reader may do to it.
 *
 * @example
 * import { JobView } from "convex-conveyor/dashboard";
 * <JobView api={api.dashboard} queue="tiles" id={job} />;
 */
export function JobView({ queue, id, ...props }: JobViewProps) {
  return (
    <Surrounded {...props}>
      <div className="cv-view">
        <nav className="cv-crumbs" aria-label="Above this">
          <Link to={overviewPlace}>Queues</Link> <span aria-hidden="true">›</span>{" "}
          <Link to={queuePlace(queue)}>{queue}</Link>
        </nav>
        <Guard label="The job" heading="Job" of={`${queue}/${id}`}>
          <Job queue={queue} id={id} />
        </Guard>
      </div>
    </Surrounded>
  );
}

function Job({ queue, id }: { queue: string; id: string }) {
  const shown = useRead({ kind: "job", queue, id });
  if (shown === undefined) {
    return (
      <>
        <Heading>Job</Heading>
        <Skeleton lines={5} tall />
      </>
    );
  }
  if (shown === null) {
    return (
      <>
        <Heading>No such job</Heading>
        <Notice title={`${queue} has no job with this id`}>
          <p>
            It was deleted, or its time to be kept is over. <code className="cv-code">{id}</code>
          </p>
          <Link to={queuePlace(queue)}>To {queue}</Link>
        </Notice>
      </>
    );
  }
  return <Shown shown={shown} />;
}

function Shown({ shown }: { shown: DashboardJob }) {
  const { job, payload, attempts } = shown;
  const { queue, id } = job;
  const about = `${queue}/${id}`;
  return (
    <>
      <div className="cv-job-head">
        <Heading>{job.name ?? "Job"}</Heading>
        <JobActions shown={shown} />
      </div>
      <JobFacts job={job} />
      <div className="cv-columns">
        <div>
          {!isFinished(job.status) && (
            <Panel title="Where it stands" of={about}>
              <Why queue={queue} id={id} job={job} />
            </Panel>
          )}
          <Panel title="What happened" of={about}>
            <Timeline job={job} attempts={attempts} />
          </Panel>
        </div>
        <div>
          <Carried job={job} payload={payload} />
        </div>
      </div>
      <Panel title="Output" of={about}>
        <Output queue={queue} id={id} />
      </Panel>
      <Panel title="Log" of={about}>
        <Log queue={queue} id={id} />
      </Panel>
    </>
  );
}
