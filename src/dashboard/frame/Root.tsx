/** What a whole dashboard and a view that stands alone both stand in. */
import { useContext, useMemo, type ReactNode } from "react";
import type { DashboardApi } from "../../shared/index.js";
import { CalmQueries } from "../../react/CalmQueries.js";
import { hashRouting, type Routing } from "../routing.js";
import { Announcer, useAnnouncer } from "./Announcer.js";
import { Clock } from "./clock.js";
import { FrameContext } from "./context.js";
import { ReachBanner, ReachContext, useSilence } from "./reach.js";

/** What each component of the dashboard is given. */
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
   * Level of the main heading, 1 to 5; those within are one lower.
   * @default 1 for a `Dashboard`, 2 for a view alone
   */
  headingLevel?: 1 | 2 | 3 | 4 | 5;
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
  children,
}: ViewProps & { children: ReactNode }) {
  const { announce, complain, ...spoken } = useAnnouncer();
  const frame = useMemo(
    () => ({ api, routing, headingLevel, announce, complain }),
    [api, routing, headingLevel, announce, complain],
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
