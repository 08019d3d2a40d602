/** The whole dashboard: its navigation, and the page of the current address. */
import { useEffect, useRef } from "react";
import { useLabels, usePlace } from "./frame/context.js";
import { Root, type ViewProps } from "./frame/Root.js";
import { JobView } from "./job/JobView.js";
import { Overview } from "./overview/Overview.js";
import { Heading } from "./parts/Heading.js";
import { Link } from "./parts/Link.js";
import { Notice } from "./parts/Notice.js";
import { overviewPlace, workersPlace, type Place } from "./places.js";
import { QueueView } from "./queue/QueueView.js";
import { WorkersView } from "./workers/WorkersView.js";

export interface DashboardProps extends ViewProps {
  /**
   * The title at the top.
   * @default "Conveyor"
   */
  title?: string;
}

/**
 * All queues, their jobs and their workers, live. The address has the page and the filters of a list: a link or a reload shows
 * the same.
 *
 * It must stand within a `ConvexProvider`, and its styles must be imported once. It shows only the queues and actions that
 * `authorize` of `conveyor.dashboardApi()` allows.
 *
 * @example
 * import { Dashboard } from "convex-conveyor/dashboard";
 * import "convex-conveyor/dashboard.css";
 * <ConvexProvider client={convex}><Dashboard api={api.dashboard} /></ConvexProvider>;
 */
export function Dashboard({ title = "Conveyor", headingLevel = 1, ...props }: DashboardProps) {
  return (
    <Root {...props} headingLevel={headingLevel}>
      <Page title={title} {...props} />
    </Root>
  );
}

function Page({ title, ...props }: ViewProps & { title: string }) {
  const place = usePlace();
  const main = useRef<HTMLElement>(null);
  useFocusOnArrival(place, main);
  const isWorkers = place.kind === "workers";
  const { skip, navigation, queues, workers } = useLabels().page;
  return (
    <>
      <a
        href="#conveyor-main"
        className="cv-skip"
        onClick={(event) => {
          // The hash is an address here.
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {skip}
      </a>
      <header className="cv-masthead">
        <p className="cv-title">{title}</p>
        <nav aria-label={navigation}>
          <Link to={overviewPlace} isCurrent={!isWorkers && place.kind !== "nowhere"}>
            {queues}
          </Link>
          <Link to={workersPlace} isCurrent={isWorkers}>
            {workers}
          </Link>
        </nav>
      </header>
      <main id="conveyor-main" className="cv-main" ref={main} tabIndex={-1}>
        <Shown place={place} props={props} />
      </main>
    </>
  );
}

function Shown({ place, props }: { place: Place; props: ViewProps }) {
  const { notFound, notFoundText, toQueues } = useLabels().page;
  if (place.kind === "overview") return <Overview {...props} />;
  if (place.kind === "workers") return <WorkersView {...props} />;
  if (place.kind === "queue") return <QueueView {...props} queue={place.queue} />;
  if (place.kind === "job") return <JobView {...props} queue={place.queue} id={place.id} />;
  return (
    <div className="cv-view">
      <Heading>{notFound}</Heading>
      <Notice title={notFoundText}>
        <Link to={overviewPlace}>{toQueues}</Link>
      </Notice>
    </div>
  );
}

/** A new page moves the focus to its heading, which a screen reader then reads; the first page and a filter do not. */
function useFocusOnArrival(place: Place, main: React.RefObject<HTMLElement | null>) {
  const where = [
    place.kind,
    "queue" in place ? place.queue : "",
    "id" in place ? place.id : "",
  ].join("/");
  const before = useRef(where);
  useEffect(() => {
    if (before.current === where) return;
    before.current = where;
    main.current?.querySelector<HTMLElement>(".cv-heading-0")?.focus();
  }, [where, main]);
}
