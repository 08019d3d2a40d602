/** Every scenario, in the order in which the report tells of them. */
import type { Scenario } from "../cases.js";
import { afterHours } from "./afterHours.js";
import { backlogs } from "./backlogs.js";
import { bursts } from "./bursts.js";
import { cancels } from "./cancels.js";
import { failures } from "./failures.js";
import { fleets } from "./fleets.js";
import { hotRows } from "./hotRows.js";
import { idleHour } from "./idleHour.js";
import { isolated } from "./isolated.js";
import { longBesideShort, longHour } from "./longBesideShort.js";
import { longJobs } from "./longJobs.js";
import {
  manyQueues,
  oneIntoEight,
  sixNowAndThen,
  sixOfBothKinds,
  thousandQueues,
  twoHundredQueues,
} from "./manyQueues.js";
import { mixed } from "./mixed.js";
import { noOps } from "./noOps.js";
import { payloads } from "./payloads.js";
import { priorities } from "./priorities.js";
import { repairs } from "./repairs.js";
import { shortJobs } from "./shortJobs.js";
import { sustained } from "./sustained.js";
import { together } from "./together.js";
import { trickle } from "./trickle.js";
import { waitingFleets } from "./waitingFleets.js";
import { waitingJobs } from "./waitingJobs.js";
import { workersOfManyQueues } from "./workersOfManyQueues.js";

export const SCENARIOS: readonly Scenario[] = [
  ...[isolated, trickle, bursts, sustained, shortJobs, noOps, waitingJobs, mixed, longJobs],
  ...[manyQueues, twoHundredQueues, sixNowAndThen, oneIntoEight, sixOfBothKinds, thousandQueues],
  ...[longBesideShort, longHour, hotRows],
  ...[
    backlogs,
    afterHours,
    payloads,
    failures,
    repairs,
    cancels,
    priorities,
    idleHour,
    fleets,
    waitingFleets,
    together,
  ],
  workersOfManyQueues,
];
