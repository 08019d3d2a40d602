/** What a claim asks and answers, also the one of a completion: validators, and the types of what they let in. */
import { v } from "convex/values";
import {
  vClaimedJob,
  vConditions,
  vDuty,
  vOfferedRows,
  vOnCallRequest,
  vPlaces,
  vQueueDeclaration,
  vWorkerFacts,
  type ClaimedJob,
  type Conditions,
  type Duty,
  type OfferedRows,
  type OnCallRequest,
  type Places,
  type QueueDeclaration,
  type WorkerFacts,
} from "../../shared/index.js";
import type { Id } from "../_generated/dataModel.js";
import type { HeldLease } from "../rows/sessions.js";
import { vPlaceInFleet, type PlaceInFleet } from "./fleet.js";

/** The handle of the app's query that answers the groups of a token with `byQuery`. Run for no other token. */
const groupsOf = v.optional(v.string());
export const claimed = {
  ...{ jobs: v.array(vClaimedJob), session: v.string() },
  ...{ fleet: v.optional(vPlaceInFleet), places: v.optional(vPlaces) },
  isLate: v.optional(v.boolean()),
  isQuiet: v.optional(v.boolean()),
  /** Offered rows whose jobs are active. */
  busyRows: v.optional(v.array(v.string())),
  duty: v.optional(vDuty),
};
/** What a worker says of itself: with the first call, and after a change. */
export const about = { about: v.optional(vWorkerFacts) };
export const claimRequest = {
  queues: v.array(vQueueDeclaration),
  max: v.number(),
  cursor: v.optional(v.string()),
  /** It answers a wake, to which few of a fleet come. */
  woken: v.optional(v.boolean()),
  /**
   * Jobs to take before any other, as `hasWork` has named them. Named jobs that are gone, or not for it, are passed
   * over.
   */
  named: v.optional(v.array(v.string())),
  /** The queues to search, of the ones it serves: none, if the named jobs are all that it wants. Absent: all. */
  lookIn: v.optional(v.array(v.string())),
  /** It searches for jobs that have waited a while: a new job is named to the worker that is to take it. */
  waited: v.optional(v.boolean()),
  /** It knows its places among the workers of these queues. */
  placed: v.optional(v.boolean()),
  /** Rows of the app's own tables, to be taken after all jobs that wait: see `tableRows.ts`. */
  rows: v.optional(v.array(vOfferedRows)),
  /** It is of a large fleet, and asks for its duty. */
  onCall: v.optional(vOnCallRequest),
  ...vConditions.fields,
  groupsOf,
};

/** A claim's filters, the claim's cursor if its groups have made it one of their own, and its worker's name. */
export const lookConditions = {
  ...vConditions.fields,
  cursor: v.optional(v.string()),
  groupsOf,
  worker: v.optional(v.string()),
};

export interface ClaimRequest extends Conditions {
  queues: QueueDeclaration[];
  max: number;
  cursor?: string;
  woken?: boolean;
  /** To be taken before any other. */
  named?: string[];
  /** The queues searched besides the named jobs. Absent: all of its queues. */
  lookIn?: string[];
  /** It searches for jobs that have waited a while. */
  waited?: boolean;
  /** It knows its places among the workers of its queues. */
  placed?: boolean;
  /** The app's query for the groups of a token, by its handle. */
  groupsOf?: string;
  /** The groups of a token that is for all with a prefix. */
  groupPrefix?: string;
  /** What its worker says of itself, where that is new. */
  about?: WorkerFacts;
  /** Rows of the app's own tables, which are taken after all jobs that wait. */
  rows?: OfferedRows[];
  /** It is of a large fleet, and asks for its duty. */
  onCall?: OnCallRequest;
}

export interface Claimed {
  leases: HeldLease[];
  jobs: ClaimedJob[];
  cursor: string;
  /** Of jobs that have rules of their own, the row: see `laneJobs.ts`. */
  ruled: ReadonlyMap<string, Id<"jobRules">>;
  /** Payloads are left out, being more than was asked for: the lane reads them later. */
  isHeavy?: boolean;
  /** A job was left that may run for longer than the process does. */
  isTooLong?: boolean;
  /** The janitor's timer that the snapshot showed, `null` for none, `undefined` without a search. */
  timer: Id<"timers"> | null | undefined;
  /**
   * The commit up to which the search is complete; `null` if that is unknown. A pick that was gone may have hidden more
   * jobs.
   */
  snapshot?: bigint | null;
  /** Its place among all sessions that serve the queues, if the search determined it. */
  fleet?: PlaceInFleet;
  /** The same for each queue of which it is known. */
  places?: Places;
  /** A sweep is late: the claimer has the work tended. */
  isLate?: boolean;
  /** Offered rows whose jobs are active. */
  busyRows?: string[];
  /** Of one that asks for its duty: how many more jobs wait than it may take, at least. */
  leftJobs?: number;
  /** More rows wait than it has taken or looked at. */
  hasLeftRows?: boolean;
}

export interface ClaimReply extends Pick<Claimed, "fleet" | "places" | "isLate" | "busyRows"> {
  duty?: Duty;
  jobs: ClaimedJob[];
  cursor: string;
  session: string;
  /** By an operator: it is given no job, and need not ask. */
  isQuiet?: boolean;
}
