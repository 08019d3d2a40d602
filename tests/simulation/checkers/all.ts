/** The checkers, one promise per file. */
import type { Checker } from "../part.js";
import { batchesOf } from "./batches.js";
import { begun } from "./begun.js";
import { blame } from "./blame.js";
import { callbackOnce } from "./callbackOnce.js";
import { canceled } from "./canceled.js";
import { counts } from "./counts.js";
import { cursors } from "./cursors.js";
import { handlersDeployed } from "./deploys.js";
import { deadlinesKept } from "./deadlines.js";
import { effectsAtomic } from "./effectsAtomic.js";
import { inTime } from "./inTime.js";
import { keys } from "./keys.js";
import { leases } from "./leases.js";
import { mounts } from "./mounts.js";
import { noJobLost } from "./noJobLost.js";
import { noSurprises } from "./noSurprises.js";
import { nothingLeft } from "./nothingLeft.js";
import { onCallKept } from "./onCall.js";
import { order } from "./order.js";
import { parallelism } from "./parallelism.js";
import { paused } from "./paused.js";
import { preferencesKept } from "./preferences.js";
import { processes } from "./processes.js";
import { promise } from "./promise.js";
import { quietKept } from "./quiet.js";
import { reports } from "./reports.js";
import { retention } from "./retention.js";
import { rowsEnd } from "./rows.js";
import { runsAsPromised } from "./runs.js";
import { scopeKept } from "./scope.js";
import { stateMachine } from "./stateMachine.js";
import { statistics } from "./statistics.js";
import { timers } from "./timers.js";

export const CHECKERS: readonly Checker[] = [
  // Before the checkers that would report jobs of the other mount as lost, or as found.
  mounts,
  stateMachine,
  noJobLost,
  runsAsPromised,
  effectsAtomic,
  callbackOnce,
  leases,
  parallelism,
  processes,
  keys,
  canceled,
  paused,
  order,
  counts,
  cursors,
  retention,
  statistics,
  timers,
  inTime,
  deadlinesKept,
  begun,
  promise,
  reports,
  noSurprises,
  handlersDeployed,
  rowsEnd,
  batchesOf,
  scopeKept,
  quietKept,
  onCallKept,
  preferencesKept,
  blame,
  nothingLeft,
];
