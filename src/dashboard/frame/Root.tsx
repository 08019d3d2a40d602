/** The surroundings of a whole dashboard, and of a view that an app shows alone. */
import { useContext, useMemo, type ReactNode } from "react";
import type { DashboardApi } from "../../shared/index.js";
import { CalmQueries } from "../../react/CalmQueries.js";
import { labelsWith, type LabelOverrides } from "../labelOverrides.js";
import { hashRouting, type Routing } from "../routing.js";
import { Announcer, useAnnouncer } from "./Announcer.js";
import { Clock } from "./clock.js";
import { FrameContext } from "./context.js";
import { ReachBanner, ReachContext, useSilence } from "./reach.js";

/** The properties of every component of the dashboard. */
export interface ViewProps {
  /**
   * The app's functions, as `conveyor.dashboardApi()` built them: `api.dashboard`, where their module is `dashboard.ts`.
   * Must stay the same object. Ignored within a `Dashboard`, which has its own.
   */
  api: DashboardApi;
  /**
   * Where the address is kept and where links lead.
   * @default hashRouting(): in the page's hash, as `#/queues/tiles`
   */
  routing?: Routing;
  /**
   * Light or dark.
   * @default "auto": as an element around it says with `data-theme`, else as the reader's system does
   */
  theme?: "auto" | "light" | "dark";
  /**
   * Level of the main heading, 1 to 5; the headings below it are one lower.
   * @default 1 for a `Dashboard`, 2 for a view alone
   */
  headingLevel?: 1 | 2 | 3 | 4 | 5;
  /**
   * Texts in the place of the dashboard's own, by group and name as in `DEFAULT_LABELS`. A text with a number or a name is a
   * function; `{time}` in a text is the place of a time that the page keeps current. Must stay the same object. A default text
   * that names a status or a duration keeps its own word: replace both.
   * @default DEFAULT_LABELS
   * @example
   * const labels = { statuses: { failed: "Fehlgeschlagen" } };
   * <Dashboard api={api.dashboard} labels={labels} />;
   */
  labels?: LabelOverrides;
}

const USUAL_ROUTING = hashRouting();

/** A view's surroundings, unless it has them already. */
export function Surrounded({ children, ...props }: ViewProps & { children: ReactNode }) {
  const outer = useContext(FrameContext);
  return outer === undefined ? <Root {...props}>{children}</Root> : children;
}

export function Root({
  api,
  routing = USUAL_ROUTING,
  theme = "auto",
  headingLevel = 2,
  labels: overrides,
  children,
}: ViewProps & { children: ReactNode }) {
  const { announce, complain, ...spoken } = useAnnouncer();
  const labels = useMemo(() => labelsWith(overrides), [overrides]);
  const frame = useMemo(
    () => ({ api, routing, headingLevel, labels, announce, complain }),
    [api, routing, headingLevel, labels, announce, complain],
  );
  const isSilent = useSilence();
  return (
    <FrameContext.Provider value={frame}>
      <ReachContext.Provider value={isSilent}>
        <Clock runs={!isSilent}>
          <div className="conveyor" {...(theme === "auto" ? {} : { "data-theme": theme })}>
            <ReachBanner />
            <CalmQueries>{children}</CalmQueries>
            <Announcer {...spoken} />
          </div>
        </Clock>
      </ReachContext.Provider>
    </FrameContext.Provider>
  );
}
