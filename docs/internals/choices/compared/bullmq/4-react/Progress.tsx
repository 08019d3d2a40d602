// Names: QueueEvents connection progress completed failed jobId
// Reservation: events from the time of the subscription on; the present state would be asked for besides.
import { useEffect, useState } from "react";

export function Progress({ id }: { id: string }) {
  const [percent, setPercent] = useState<number | "ended">(0);
  useEffect(() => {
    const source = new EventSource(`/jobs/${id}`);
    source.onmessage = ({ data }) => setPercent(JSON.parse(data));
    return () => source.close();
  }, [id]);
  return percent === "ended" ? <p>ended</p> : <progress max={100} value={percent} />;
}
