/** For workers outside, and their tokens. */
import { conveyor, renders } from "./queues.js";

export const { hasWork, claim, heartbeat, complete, completeLater, report, cancellations } =
  conveyor.workerApi({ queues: [renders] });

export const { create } = conveyor.tokenApi();
