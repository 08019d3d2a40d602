/** For workers outside, and their tokens. */
import { conveyor, renders } from "./queues.js";

export const { claim, complete, heartbeat, report, watch } = conveyor.workerApi({
  queues: [renders],
});

export const { create } = conveyor.tokenApi();
