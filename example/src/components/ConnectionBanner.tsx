/** Says so when the backend is out of reach: the page then shows the last known state. */
import { useConnection } from "../data.js";
import { OUT_OF_REACH_ID, useOutOfReach } from "../useReach.js";

export function ConnectionBanner() {
  const { everConnected } = useConnection();
  const outOfReach = useOutOfReach();
  return (
    <div role="status" className="banner-place">
      {outOfReach && (
        <p className="banner" id={OUT_OF_REACH_ID}>
          <strong>The backend is out of reach.</strong>{" "}
          {everConnected ? "The page shows the last known state." : "Is it running?"}
        </p>
      )}
    </div>
  );
}
