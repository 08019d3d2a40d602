/** One queue: its health, activity, jobs, events and configuration. */
import { useLabels, useRead } from "../frame/context.js";
import { Surrounded, type ViewProps } from "../frame/Root.js";
import { Guard } from "../parts/Guard.js";
import { Heading } from "../parts/Heading.js";
import { Link } from "../parts/Link.js";
import { Notice } from "../parts/Notice.js";
import { Panel } from "../parts/Panel.js";
import { Skeleton } from "../parts/Skeleton.js";
import { overviewPlace, queuePlace, type QueueTab } from "../places.js";
import { Configuration } from "./Configuration.js";
import { Events } from "./Events.js";
import { Health, HealthFigures } from "./Health.js";
import { Jobs } from "./Jobs.js";
import { QueueActions } from "./QueueActions.js";
import { QueueCharts } from "./QueueCharts.js";
import { QueueLanes } from "./QueueLanes.js";
import { StandingWords } from "./Standing.js";
import { useLook } from "./useLook.js";

export interface QueueViewProps extends ViewProps {
  /** Its name. */
  queue: string;
}

/**
 * A queue: its health, its activity by minute, hour or day, its jobs by status with filters, its events, its configuration with
 * the source of each value, and the actions that the reader may take. The address keeps the filters.
 *
 * @example
 * import { QueueView } from "convex-conveyor/dashboard";
 * <QueueView api={api.dashboard} queue="tiles" />;
 */
export function QueueView({ queue, ...props }: QueueViewProps) {
  return (
    <Surrounded {...props}>
      <View queue={queue} />
    </Surrounded>
  );
}

function View({ queue }: { queue: string }) {
  const { breadcrumb, queues } = useLabels().page;
  return (
    <div className="cv-view">
      <nav className="cv-crumbs" aria-label={breadcrumb}>
        <Link to={overviewPlace}>{queues}</Link>
      </nav>
      <Heading>{queue}</Heading>
      <Guard label={queue} of={queue}>
        <Queue queue={queue} />
      </Guard>
    </div>
  );
}

function Queue({ queue }: { queue: string }) {
  const shown = useRead({ kind: "queue", queue });
  const { queue: labels, mainLoop } = useLabels();
  const { unknown, unknownText, activity } = labels;
  if (shown === undefined) return <Skeleton lines={4} tall />;
  if (shown === null) {
    return (
      <Notice title={unknown(queue)}>
        <p>{unknownText}</p>
      </Notice>
    );
  }
  return (
    <>
      <div className="cv-queue-head">
        <div>
          <Health gauge={shown.gauge} />
          <HealthFigures health={shown.gauge.health} />
          <StandingWords queue={shown} />
          {shown.isPush && (
            <Guard label={mainLoop.part} of={queue}>
              <QueueLanes state={shown.state} />
            </Guard>
          )}
        </div>
        <QueueActions queue={shown} />
      </div>
      <Panel title={activity} of={queue}>
        <QueueCharts queue={queue} />
      </Panel>
      <Tabs queue={queue} />
      <Below shown={shown} />
    </>
  );
}

const TABS: readonly QueueTab[] = ["jobs", "events", "configuration"];

function Tabs({ queue }: { queue: string }) {
  const { look } = useLook(queue);
  const labels = useLabels().queue;
  return (
    <nav className="cv-tabs" aria-label={labels.sections(queue)}>
      {TABS.map((tab) => (
        <Link key={tab} to={queuePlace(queue, { ...look, tab })} isCurrent={tab === look.tab}>
          {labels[tab]}
        </Link>
      ))}
    </nav>
  );
}

function Below({ shown }: { shown: Parameters<typeof Jobs>[0]["shown"] }) {
  const queue = shown.state.name;
  const { look } = useLook(queue);
  const labels = useLabels().queue;
  if (look.tab === "events") {
    return (
      <Panel key="events" title={labels.events} of={queue}>
        <Events queue={queue} />
      </Panel>
    );
  }
  if (look.tab === "configuration") {
    return (
      <Panel key="configuration" title={labels.configuration} of={queue}>
        <Configuration state={shown.state} />
      </Panel>
    );
  }
  return <Jobs shown={shown} />;
}
