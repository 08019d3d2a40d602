/** The context of every part of the dashboard: the app's functions, routing, texts, and reports of actions. */
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
import type { Labels } from "../labelOverrides.js";
import { readPlace, writePlace, type Place } from "../places.js";
import type { PlacePage } from "../../react/useFollowedPages.js";
import type { Routing } from "../routing.js";

export interface Frame {
  readonly api: DashboardApi;
  readonly routing: Routing;
  /** Of the main heading, 1 to 6; the headings below it are one lower. */
  readonly headingLevel: number;
  readonly labels: Labels;
  /** Reports a success to screen readers. */
  readonly announce: (words: string) => void;
  /** Shows a failure until the reader dismisses it. */
  readonly complain: (words: string) => void;
}

export const FrameContext = createContext<Frame | undefined>(undefined);

export function useFrame(): Frame {
  const frame = useContext(FrameContext);
  if (frame === undefined) throw new Error("This is part of a dashboard and stands within one.");
  return frame;
}

export const useApi = (): DashboardApi => useFrame().api;

export const useLabels = (): Labels => useFrame().labels;

/** One call's answer with its type; `undefined` while it loads. */
export function useRead<const Kind extends DashboardRead["kind"]>(
  call: CallOf<DashboardRead, Kind> & { kind: Kind },
): DashboardAnswers[Kind] | undefined {
  return useQuery(useApi().read, { call }) as DashboardAnswers[Kind] | undefined;
}

/** A log and an output take the cursor of a page in the call itself. */
export const inCall: PlacePage = ({ call, ...args }, place) => ({
  ...args,
  call: { ...(call as object), ...place },
});

/** Calls one kind of change; `foresee` shows it before the backend has answered. */
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

/** The place in the current address. */
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
