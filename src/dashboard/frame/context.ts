/** What every part of the dashboard has: the app's functions, where links lead, and whom to tell what became of an action. */
import { useMutation, useQuery } from "convex/react";
import type { OptimisticLocalStore } from "convex/browser";
import { createContext, useContext } from "react";
import type {
  CallOf,
  DashboardAnswers,
  DashboardApi,
  DashboardRead,
  DashboardWrite,
} from "../../shared/index.js";
import { readPlace, writePlace, type Place } from "../places.js";
import type { PlacePage } from "../../react/useFollowedPages.js";
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

/** What one call answers, `undefined` while it loads; with the type of its answer. */
export function useRead<const Kind extends DashboardRead["kind"]>(
  call: CallOf<DashboardRead, Kind> & { kind: Kind },
): DashboardAnswers[Kind] | undefined {
  return useQuery(useApi().read, { call }) as DashboardAnswers[Kind] | undefined;
}

/** Where on a page of a log or output is asked for: in the call itself. */
export const inCall: PlacePage = ({ call, ...args }, place) => ({
  ...args,
  call: { ...(call as object), ...place },
});

/** Calls one kind of change, shown at once by `foresee` before the backend has answered. */
export function useWrite<const Kind extends DashboardWrite["kind"]>(
  foresee: (
    store: OptimisticLocalStore,
    api: DashboardApi,
    call: CallOf<DashboardWrite, Kind>,
  ) => void,
): (call: CallOf<DashboardWrite, Kind>) => Promise<DashboardAnswers[Kind]> {
  const api = useApi();
  const write = useMutation(api.write).withOptimisticUpdate((store, { call }) =>
    foresee(store, api, call as CallOf<DashboardWrite, Kind>),
  );
  return async (call) => (await write({ call })) as DashboardAnswers[Kind];
}

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
