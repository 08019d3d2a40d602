/* eslint-disable */
/**
 * Generated `api` utility.
 *
 * THIS CODE IS AUTOMATICALLY GENERATED.
 *
 * To regenerate, run `npx convex dev`.
 * @module
 */

import type * as alarms from "../alarms.js";
import type * as arrivals from "../arrivals.js";
import type * as attemptRows from "../attemptRows.js";
import type * as attempts from "../attempts.js";
import type * as basket from "../basket.js";
import type * as beginLane from "../beginLane.js";
import type * as blocked from "../blocked.js";
import type * as bulk from "../bulk.js";
import type * as bulkLook from "../bulkLook.js";
import type * as bulkStep from "../bulkStep.js";
import type * as byKey from "../byKey.js";
import type * as callbacks from "../callbacks.js";
import type * as cancel from "../cancel.js";
import type * as cancels from "../cancels.js";
import type * as candidates from "../candidates.js";
import type * as carried from "../carried.js";
import type * as chunks from "../chunks.js";
import type * as claim from "../claim.js";
import type * as complete from "../complete.js";
import type * as completeLater from "../completeLater.js";
import type * as config from "../config.js";
import type * as continued from "../continued.js";
import type * as control from "../control.js";
import type * as counts from "../counts.js";
import type * as crew from "../crew.js";
import type * as cursors from "../cursors.js";
import type * as deadlines from "../deadlines.js";
import type * as dispatcher from "../dispatcher.js";
import type * as ending from "../ending.js";
import type * as enqueue from "../enqueue.js";
import type * as events from "../events.js";
import type * as execute from "../execute.js";
import type * as expire from "../expire.js";
import type * as expiries from "../expiries.js";
import type * as failing from "../failing.js";
import type * as filled from "../filled.js";
import type * as finished from "../finished.js";
import type * as fleet from "../fleet.js";
import type * as gauge from "../gauge.js";
import type * as goneEarly from "../goneEarly.js";
import type * as grants from "../grants.js";
import type * as handOvers from "../handOvers.js";
import type * as handlers from "../handlers.js";
import type * as hasWork from "../hasWork.js";
import type * as heartbeat from "../heartbeat.js";
import type * as holders from "../holders.js";
import type * as items from "../items.js";
import type * as janitor from "../janitor.js";
import type * as jobNotes from "../jobNotes.js";
import type * as jobs from "../jobs.js";
import type * as keys from "../keys.js";
import type * as laneAction from "../laneAction.js";
import type * as laneApart from "../laneApart.js";
import type * as laneJobs from "../laneJobs.js";
import type * as laneOnce from "../laneOnce.js";
import type * as lanePlaces from "../lanePlaces.js";
import type * as laneReport from "../laneReport.js";
import type * as laneStep from "../laneStep.js";
import type * as lanes from "../lanes.js";
import type * as lib from "../lib.js";
import type * as list from "../list.js";
import type * as listed from "../listed.js";
import type * as log from "../log.js";
import type * as logs from "../logs.js";
import type * as losses from "../losses.js";
import type * as mainLoop from "../mainLoop.js";
import type * as marks from "../marks.js";
import type * as mayTake from "../mayTake.js";
import type * as metrics from "../metrics.js";
import type * as mount from "../mount.js";
import type * as movement from "../movement.js";
import type * as named from "../named.js";
import type * as nextCursor from "../nextCursor.js";
import type * as observe from "../observe.js";
import type * as offers from "../offers.js";
import type * as oldest from "../oldest.js";
import type * as operate from "../operate.js";
import type * as outcomes from "../outcomes.js";
import type * as outside from "../outside.js";
import type * as overdue from "../overdue.js";
import type * as overview from "../overview.js";
import type * as pages from "../pages.js";
import type * as payloads from "../payloads.js";
import type * as peek from "../peek.js";
import type * as periodRows from "../periodRows.js";
import type * as picking from "../picking.js";
import type * as position from "../position.js";
import type * as processTime from "../processTime.js";
import type * as purge from "../purge.js";
import type * as queues from "../queues.js";
import type * as quotas from "../quotas.js";
import type * as recording from "../recording.js";
import type * as remove from "../remove.js";
import type * as replace from "../replace.js";
import type * as report from "../report.js";
import type * as reportChecks from "../reportChecks.js";
import type * as reported from "../reported.js";
import type * as rest from "../rest.js";
import type * as results from "../results.js";
import type * as retry from "../retry.js";
import type * as revoked from "../revoked.js";
import type * as rollUp from "../rollUp.js";
import type * as routes from "../routes.js";
import type * as rowBytes from "../rowBytes.js";
import type * as scan from "../scan.js";
import type * as sections from "../sections.js";
import type * as segmentAlarms from "../segmentAlarms.js";
import type * as sessions from "../sessions.js";
import type * as stand from "../stand.js";
import type * as stats from "../stats.js";
import type * as status from "../status.js";
import type * as statusSections from "../statusSections.js";
import type * as stored from "../stored.js";
import type * as surplus from "../surplus.js";
import type * as tables_jobs from "../tables/jobs.js";
import type * as tables_push from "../tables/push.js";
import type * as tables_upkeep from "../tables/upkeep.js";
import type * as tables_workers from "../tables/workers.js";
import type * as takeBack from "../takeBack.js";
import type * as timers from "../timers.js";
import type * as tokens from "../tokens.js";
import type * as transitions from "../transitions.js";
import type * as unheard from "../unheard.js";
import type * as waiting from "../waiting.js";
import type * as wake from "../wake.js";
import type * as wakes from "../wakes.js";
import type * as walk from "../walk.js";
import type * as watchdog from "../watchdog.js";
import type * as why from "../why.js";
import type * as workers from "../workers.js";
import type * as workpool from "../workpool.js";

import type {
  ApiFromModules,
  FilterApi,
  FunctionReference,
} from "convex/server";
import { anyApi, componentsGeneric } from "convex/server";

const fullApi: ApiFromModules<{
  alarms: typeof alarms;
  arrivals: typeof arrivals;
  attemptRows: typeof attemptRows;
  attempts: typeof attempts;
  basket: typeof basket;
  beginLane: typeof beginLane;
  blocked: typeof blocked;
  bulk: typeof bulk;
  bulkLook: typeof bulkLook;
  bulkStep: typeof bulkStep;
  byKey: typeof byKey;
  callbacks: typeof callbacks;
  cancel: typeof cancel;
  cancels: typeof cancels;
  candidates: typeof candidates;
  carried: typeof carried;
  chunks: typeof chunks;
  claim: typeof claim;
  complete: typeof complete;
  completeLater: typeof completeLater;
  config: typeof config;
  continued: typeof continued;
  control: typeof control;
  counts: typeof counts;
  crew: typeof crew;
  cursors: typeof cursors;
  deadlines: typeof deadlines;
  dispatcher: typeof dispatcher;
  ending: typeof ending;
  enqueue: typeof enqueue;
  events: typeof events;
  execute: typeof execute;
  expire: typeof expire;
  expiries: typeof expiries;
  failing: typeof failing;
  filled: typeof filled;
  finished: typeof finished;
  fleet: typeof fleet;
  gauge: typeof gauge;
  goneEarly: typeof goneEarly;
  grants: typeof grants;
  handOvers: typeof handOvers;
  handlers: typeof handlers;
  hasWork: typeof hasWork;
  heartbeat: typeof heartbeat;
  holders: typeof holders;
  items: typeof items;
  janitor: typeof janitor;
  jobNotes: typeof jobNotes;
  jobs: typeof jobs;
  keys: typeof keys;
  laneAction: typeof laneAction;
  laneApart: typeof laneApart;
  laneJobs: typeof laneJobs;
  laneOnce: typeof laneOnce;
  lanePlaces: typeof lanePlaces;
  laneReport: typeof laneReport;
  laneStep: typeof laneStep;
  lanes: typeof lanes;
  lib: typeof lib;
  list: typeof list;
  listed: typeof listed;
  log: typeof log;
  logs: typeof logs;
  losses: typeof losses;
  mainLoop: typeof mainLoop;
  marks: typeof marks;
  mayTake: typeof mayTake;
  metrics: typeof metrics;
  mount: typeof mount;
  movement: typeof movement;
  named: typeof named;
  nextCursor: typeof nextCursor;
  observe: typeof observe;
  offers: typeof offers;
  oldest: typeof oldest;
  operate: typeof operate;
  outcomes: typeof outcomes;
  outside: typeof outside;
  overdue: typeof overdue;
  overview: typeof overview;
  pages: typeof pages;
  payloads: typeof payloads;
  peek: typeof peek;
  periodRows: typeof periodRows;
  picking: typeof picking;
  position: typeof position;
  processTime: typeof processTime;
  purge: typeof purge;
  queues: typeof queues;
  quotas: typeof quotas;
  recording: typeof recording;
  remove: typeof remove;
  replace: typeof replace;
  report: typeof report;
  reportChecks: typeof reportChecks;
  reported: typeof reported;
  rest: typeof rest;
  results: typeof results;
  retry: typeof retry;
  revoked: typeof revoked;
  rollUp: typeof rollUp;
  routes: typeof routes;
  rowBytes: typeof rowBytes;
  scan: typeof scan;
  sections: typeof sections;
  segmentAlarms: typeof segmentAlarms;
  sessions: typeof sessions;
  stand: typeof stand;
  stats: typeof stats;
  status: typeof status;
  statusSections: typeof statusSections;
  stored: typeof stored;
  surplus: typeof surplus;
  "tables/jobs": typeof tables_jobs;
  "tables/push": typeof tables_push;
  "tables/upkeep": typeof tables_upkeep;
  "tables/workers": typeof tables_workers;
  takeBack: typeof takeBack;
  timers: typeof timers;
  tokens: typeof tokens;
  transitions: typeof transitions;
  unheard: typeof unheard;
  waiting: typeof waiting;
  wake: typeof wake;
  wakes: typeof wakes;
  walk: typeof walk;
  watchdog: typeof watchdog;
  why: typeof why;
  workers: typeof workers;
  workpool: typeof workpool;
}> = anyApi as any;

/**
 * A utility for referencing Convex functions in your app's public API.
 *
 * Usage:
 * ```js
 * const myFunctionReference = api.myModule.myFunction;
 * ```
 */
export const api: FilterApi<
  typeof fullApi,
  FunctionReference<any, "public">
> = anyApi as any;

/**
 * A utility for referencing Convex functions in your app's internal API.
 *
 * Usage:
 * ```js
 * const myFunctionReference = internal.myModule.myFunction;
 * ```
 */
export const internal: FilterApi<
  typeof fullApi,
  FunctionReference<any, "internal">
> = anyApi as any;

export const components = componentsGeneric() as unknown as {};
