// Names: on failed data attemptsMade opts attempts
// Reservation: in the process of the worker, and lost with it.
import { worker } from "./emails";

worker.on("failed", (job, error) => {
  if (job !== undefined && job.attemptsMade >= (job.opts.attempts ?? 1)) {
    console.error(job.data.to, error);
  }
});
