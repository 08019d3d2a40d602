/**
 * The functions for workers, each called with a worker's token; and, for operators only, how tokens are made and
 * revoked.
 */
import { conveyor, tiles } from "./queue/farm.js";

export const { claim, complete, heartbeat, report, watch } = conveyor.workerApi({
  queues: [tiles],
});

export const { create, revoke, list } = conveyor.tokenApi();
