/** One queue: how it goes, what it holds, what happened to it, how it is configured. */
import { useRead } from "../frame/context.js";
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
import { StandingWords } from "./Standing.js";
import { useLook } from "./useLook.js";

export interface QueueViewProps extends ViewProps {
  /** Its name. */
  queue: string;
}

/**
 * A queue: its health and what it got through by minute, hour or day, its jobs by state with filters, its events, its
 * configuration with where each value comes from, and what the reader may do to it. Filters are kept in the address.
 *
 * @example
 * import { QueueView } from "convex-conveyor/dashboard";
 * <QueueView api={api.dashboard} queue="tiles" />;
 */
export function QueueView({ queue, ...props }: QueueViewProps) {
  return (
    <Surrounded {...props}>
      <div className="cv-view">
        <nav className="cv-crumbs" aria-label="Above this">
          <Link to={overviewPlace}>Queues</Link>
        </nav>
        <Heading>{queue}</Heading>
        <Guard label={queue} of={queue}>
          <Queue queue={queue} />
        </Guard>
      </div>
    </Surrounded>
  );
}

function Queue({ queue }: { queue: string }) {
  const shown = useRead({ kind: "queue", queue });
  if (shown === undefined) return <Skeleton lines={4} tall />;
  if (shown === null) {
    return (
      <Notice title={`No code has declared a queue “${queue}”`}>
        <p>A queue is there with its first job, or as soon as a worker asks it for one.</p>
      </Notice>
    );
  }
  return (
    <>
      <div className="cv-queue-head">
        <div>
          <Health health={shown.gauge.health} />
          <HealthFigures health={shown.gauge.health} />
          <StandingWords queue={shown} />
        </div>
        <QueueActions queue={shown} />
      </div>
      <Panel title="What it got through" of={queue}>
        <QueueCharts queue={queue} />
      </Panel>
      <Tabs queue={queue} />
      <Below shown={shown} />
    </>
  );
}

const TABS: readonly (readonly [QueueTab, string])[] = [
  ["jobs", "Jobs"],
  ["events", "Events"],
  ["configuration", "Configuration"],
];

function Tabs({ queue }: { queue: string }) {
  const { look } = useLook(queue);
  return (
    <nav className="cv-tabs" aria-label={`Of ${queue}`}>
      {TABS.map(([tab, word]) => (
        <Link key={tab} to={queuePlace(queue, { ...look, tab })} isCurrent={tab === look.tab}>
          {word}
        </Link>
      ))}
    </nav>
  );
}

function Below({ shown }: { shown: Parameters<typeof Jobs>[0]["shown"] }) {
  const queue = shown.state.name;
  const { look } = useLook(queue);
  if (look.tab === "events") {
    return (
      <Panel title="Events" of={queue}>
        <Events queue={queue} />
      </Panel>
    );
  }
  if (look.tab === "configuration") {
    return (
      <Panel title="Configuration in force" of={queue}>
        <Configuration state={shown.state} />
      </Panel>
    );
  }
  return <Jobs shown={shown} />;
}
