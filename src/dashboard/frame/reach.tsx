/** Says so when the backend is out of reach: what is on the page is then the last that was heard, and nothing can be done. */
import { useConvexConnectionState } from "convex/react";
import { createContext, useContext, useEffect, useState } from "react";

/** A reload's own connecting takes less, and is not worth a word. */
const PATIENCE_MS = 1_500;

/** What explains a button that is off meanwhile: the banner's id, for `aria-describedby`. */
const BANNER_ID = "conveyor-out-of-reach";

export const ReachContext = createContext(false);

/** True once the backend has been out of reach for a while; false at once when it is back. */
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

/** What a button has while nothing can be done. */
export function useOff(): { disabled?: true; "aria-describedby"?: string } {
  return useContext(ReachContext) ? { disabled: true, "aria-describedby": BANNER_ID } : {};
}

export function ReachBanner() {
  const isSilent = useContext(ReachContext);
  const { hasEverConnected } = useConvexConnectionState();
  return (
    <div role="status" className="cv-banner-place">
      {isSilent && (
        <p className="cv-banner" id={BANNER_ID}>
          <strong>The backend is out of reach.</strong>{" "}
          {hasEverConnected
            ? "What you see is the last that was heard; it goes on by itself."
            : "Is the deployment running, and its address right?"}
        </p>
      )}
    </div>
  );
}
