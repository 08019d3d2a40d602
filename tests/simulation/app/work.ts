/** The functions that programs outside call. */
import { conveyor, deployed, ofKind } from "./queues.js";

const { pulled, mixed, ring, acted } = ofKind;

/** They serve queues of actions too: jobs there may need labels that no lane has. */
export const { claim, complete, heartbeat, report, watch } = conveyor.workerApi({
  queues: [...pulled, ...mixed, ...ring, ...acted, deployed],
  continueWith: [pulled[0]!],
});
