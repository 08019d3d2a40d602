/** What every part of the dashboard has: the app's functions, where links lead, and whom to tell what became of an action. */
import { createContext, useContext } from "react";
import type { DashboardApi } from "../../client/dashboardTypes.js";
import { readPlace, writePlace, type Place } from "../places.js";
import type { Routing } from "../routing.js";

export interface Frame {
  readonly api: DashboardApi;
  readonly routing: Routing;
  /** Of the main heading, 1 to 6; those within are one lower. */
  readonly headingLevel: number;
  /** Says something to those who cannot see it. */
  readonly announce: (words: string) => void;
  /** Says to all that something did not succeed, until it is taken away. */
  readonly complain: (words: string) => void;
}

export const FrameContext = createContext<Frame | undefined>(undefined);

export function useFrame(): Frame {
  const frame = useContext(FrameContext);
  if (frame === undefined) throw new Error("This is part of a dashboard and stands within one.");
  return frame;
}

export const useApi = (): DashboardApi => useFrame().api;

/** Where one is, how to get elsewhere, and what a link there has for its `href`. */
export function usePlace() {
  const { routing } = useFrame();
  return readPlace(routing.usePath());
}

export function useLinks() {
  const { routing } = useFrame();
  return {
    hrefOf: (place: Place) => routing.hrefOf(writePlace(place)),
    go: (place: Place, options?: { replace?: boolean }) => routing.go(writePlace(place), options),
  };
}
