/** What must hold, a promise a file. */
import type { Checker } from "../part.js";
import { callbackOnce } from "./callbackOnce.js";
import { canceled } from "./canceled.js";
import { effectsAtomic } from "./effectsAtomic.js";
import { keys } from "./keys.js";
import { leases } from "./leases.js";
import { noJobLost } from "./noJobLost.js";
import { parallelism } from "./parallelism.js";
import { paused } from "./paused.js";
import { runsAsPromised } from "./runs.js";
import { stateMachine } from "./stateMachine.js";

export const CHECKERS: readonly Checker[] = [
  stateMachine,
  noJobLost,
  runsAsPromised,
  effectsAtomic,
  callbackOnce,
  leases,
  parallelism,
  keys,
  canceled,
  paused,
];
