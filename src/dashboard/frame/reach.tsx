/** Shows that the page is disconnected: its data is then the last known state, and every action is off. */
import { useConvexConnectionState } from "convex/react";
import { createContext, useContext, useEffect, useState } from "react";
import { useLabels } from "./context.js";

/** Connecting after a reload takes less, and shows no banner. */
const PATIENCE_MS = 1_500;

/** The banner's id, the `aria-describedby` of each disabled button. */
const BANNER_ID = "conveyor-out-of-reach";

export const ReachContext = createContext(false);

/** True when the page has been disconnected for `PATIENCE_MS`; false as soon as it is connected. */
export function useSilence(): boolean {
  const { isWebSocketConnected } = useConvexConnectionState();
  const [isLong, setIsLong] = useState(false);
  useEffect(() => {
    if (isWebSocketConnected) return;
    const timer = setTimeout(() => setIsLong(true), PATIENCE_MS);
    return () => {
      clearTimeout(timer);
      setIsLong(false);
    };
  }, [isWebSocketConnected]);
  return !isWebSocketConnected && isLong;
}

/** The attributes of a button while the page is disconnected. */
export function useOff(): { disabled?: true; "aria-describedby"?: string } {
  return useContext(ReachContext) ? { disabled: true, "aria-describedby": BANNER_ID } : {};
}

export function ReachBanner() {
  const isSilent = useContext(ReachContext);
  const { hasEverConnected } = useConvexConnectionState();
  const { disconnected, reconnecting, neverConnected } = useLabels().page;
  return (
    <div role="status" className="cv-banner-place">
      {isSilent && (
        <p className="cv-banner" id={BANNER_ID}>
          <strong>{disconnected}</strong> {hasEverConnected ? reconnecting : neverConnected}
        </p>
      )}
    </div>
  );
}
