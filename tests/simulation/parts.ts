/** All workloads and faults. Their order is that in which events of the same time happen, and in which they are healed. */
import { callbacks } from "./faults/callbacks.js";
import { conflicts } from "./faults/conflicts.js";
import { late } from "./faults/late.js";
import { liars } from "./faults/liars.js";
import { lostActions } from "./faults/lostActions.js";
import { lostProcesses } from "./faults/lostProcesses.js";
import { slowProcesses } from "./faults/slowProcesses.js";
import { lostSchedules } from "./faults/lostSchedules.js";
import { network } from "./faults/network.js";
import { newVersion } from "./faults/newVersion.js";
import { restarts } from "./faults/restarts.js";
import { oldSnapshots } from "./faults/oldSnapshots.js";
import { starved } from "./faults/starved.js";
import { skew, workerCrash, workerPause, workerStop } from "./faults/workers.js";
import type { Part } from "./part.js";
import { batches } from "./workloads/batches.js";
import { callers } from "./workloads/callers.js";
import { cancels } from "./workloads/cancels.js";
import { crowd } from "./workloads/crowd.js";
import { configuration } from "./workloads/configuration.js";
import { deadlines } from "./workloads/deadlines.js";
import { deploys } from "./workloads/deploys.js";
import { fleet } from "./workloads/fleet.js";
import { onCall } from "./workloads/onCall.js";
import { operators } from "./workloads/operators.js";
import { pages } from "./workloads/pages.js";
import { preferences } from "./workloads/preferences.js";
import { producers } from "./workloads/producers.js";
import { quiet } from "./workloads/quiet.js";
import { retries } from "./workloads/retries.js";
import { rows } from "./workloads/rows.js";
import { scope } from "./workloads/scope.js";
import { secondMount } from "./workloads/secondMount.js";
import { storm } from "./workloads/storm.js";

export const WORKLOADS: readonly Part[] = [
  producers,
  callers,
  cancels,
  retries,
  operators,
  configuration,
  pages,
  storm,
  crowd,
  fleet,
  deploys,
  secondMount,
  deadlines,
  rows,
  batches,
  scope,
  quiet,
  onCall,
  preferences,
];
/** The first must leave a backend that runs, and a network, so that the rest can be healed. */
export const FAULTS: readonly Part[] = [
  restarts,
  network,
  conflicts,
  callbacks,
  starved,
  lostActions,
  lostProcesses,
  slowProcesses,
  lostSchedules,
  late,
  oldSnapshots,
  newVersion,
  workerCrash,
  workerPause,
  workerStop,
  skew,
  liars,
];
export const PARTS: readonly Part[] = [...WORKLOADS, ...FAULTS];
