/** What programs outside call. */
import { conveyor, mixed, pulled, ring } from "./queues.js";

export const { hasWork, claim, complete, completeLater, heartbeat, report, cancellations } =
  conveyor.workerApi({ queues: [pulled, mixed, ring], continueWith: [pulled] });
