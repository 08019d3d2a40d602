/** The whole dashboard: what there is, where one is, and how to get elsewhere. */
import { useEffect, useRef } from "react";
import { usePlace } from "./frame/context.js";
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
   * What stands at its top.
   * @default "Conveyor"
   */
  title?: string;
}

/**
 * All queues, their jobs and their workers, live. Where one is, with the filters of a list, is kept in the address: a link or
 * a reload shows the same.
 *
 * It must stand within a `ConvexProvider`, and its styles must be imported once. It shows what `authorize` of
 * `conveyor.dashboardApi()` lets the reader see, and no action that it refuses.
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
        Skip to the content
      </a>
      <header className="cv-masthead">
        <p className="cv-title">{title}</p>
        <nav aria-label="Dashboard">
          <Link to={overviewPlace} isCurrent={!isWorkers && place.kind !== "nowhere"}>
            Queues
          </Link>
          <Link to={workersPlace} isCurrent={isWorkers}>
            Workers
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
  if (place.kind === "overview") return <Overview {...props} />;
  if (place.kind === "workers") return <WorkersView {...props} />;
  if (place.kind === "queue") return <QueueView {...props} queue={place.queue} />;
  if (place.kind === "job") return <JobView {...props} queue={place.queue} id={place.id} />;
  return (
    <>
      <Heading>There is nothing here</Heading>
      <Notice title="This address leads nowhere">
        <Link to={overviewPlace}>To the queues</Link>
      </Notice>
    </>
  );
}

/** Whoever goes elsewhere by keyboard begins at the new heading, and hears it; not at the first page, nor for a filter. */
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
