/* eslint-disable */
/**
 * Generated `api` utility.
 *
 * THIS CODE IS AUTOMATICALLY GENERATED.
 *
 * To regenerate, run `npx convex dev`.
 * @module
 */

import type * as attempts_attemptRows from "../attempts/attemptRows.js";
import type * as attempts_blocked from "../attempts/blocked.js";
import type * as attempts_chunks from "../attempts/chunks.js";
import type * as attempts_complete from "../attempts/complete.js";
import type * as attempts_completeLater from "../attempts/completeLater.js";
import type * as attempts_continued from "../attempts/continued.js";
import type * as attempts_failing from "../attempts/failing.js";
import type * as attempts_heartbeat from "../attempts/heartbeat.js";
import type * as attempts_leave from "../attempts/leave.js";
import type * as attempts_logs from "../attempts/logs.js";
import type * as attempts_outcomes from "../attempts/outcomes.js";
import type * as attempts_pages from "../attempts/pages.js";
import type * as attempts_recording from "../attempts/recording.js";
import type * as attempts_report from "../attempts/report.js";
import type * as attempts_reportChecks from "../attempts/reportChecks.js";
import type * as attempts_reportRoom from "../attempts/reportRoom.js";
import type * as attempts_reported from "../attempts/reported.js";
import type * as attempts_takeBack from "../attempts/takeBack.js";
import type * as claim_assignment from "../claim/assignment.js";
import type * as claim_callNumbers from "../claim/callNumbers.js";
import type * as claim_callUps from "../claim/callUps.js";
import type * as claim_choose from "../claim/choose.js";
import type * as claim_claim from "../claim/claim.js";
import type * as claim_claimCall from "../claim/claimCall.js";
import type * as claim_claimablePlaces from "../claim/claimablePlaces.js";
import type * as claim_fleet from "../claim/fleet.js";
import type * as claim_hasWork from "../claim/hasWork.js";
import type * as claim_leaseBatch from "../claim/leaseBatch.js";
import type * as claim_named from "../claim/named.js";
import type * as claim_nextCursor from "../claim/nextCursor.js";
import type * as claim_onCall from "../claim/onCall.js";
import type * as claim_peek from "../claim/peek.js";
import type * as claim_picking from "../claim/picking.js";
import type * as claim_tableRows from "../claim/tableRows.js";
import type * as config from "../config.js";
import type * as count_arrivals from "../count/arrivals.js";
import type * as count_counts from "../count/counts.js";
import type * as count_finished from "../count/finished.js";
import type * as count_gauge from "../count/gauge.js";
import type * as count_oldest from "../count/oldest.js";
import type * as count_periodRows from "../count/periodRows.js";
import type * as count_purge from "../count/purge.js";
import type * as count_queueFlow from "../count/queueFlow.js";
import type * as count_remove from "../count/remove.js";
import type * as count_rollUp from "../count/rollUp.js";
import type * as count_uncounted from "../count/uncounted.js";
import type * as edges_applyEffects from "../edges/applyEffects.js";
import type * as edges_callbacks from "../edges/callbacks.js";
import type * as edges_deadlines from "../edges/deadlines.js";
import type * as edges_dispatcher from "../edges/dispatcher.js";
import type * as edges_ending from "../edges/ending.js";
import type * as edges_mayTake from "../edges/mayTake.js";
import type * as edges_pendingPlace from "../edges/pendingPlace.js";
import type * as edges_processTime from "../edges/processTime.js";
import type * as edges_startDeadlines from "../edges/startDeadlines.js";
import type * as edges_transitions from "../edges/transitions.js";
import type * as edges_wakes from "../edges/wakes.js";
import type * as enter_declare from "../enter/declare.js";
import type * as enter_enqueue from "../enter/enqueue.js";
import type * as index_listIndex from "../index/listIndex.js";
import type * as index_outsideWorkers from "../index/outsideWorkers.js";
import type * as index_rowsAfter from "../index/rowsAfter.js";
import type * as index_scan from "../index/scan.js";
import type * as lib from "../lib.js";
import type * as loops_loop from "../loops/loop.js";
import type * as loops_segments from "../loops/segments.js";
import type * as loops_timers from "../loops/timers.js";
import type * as manage_bulk from "../manage/bulk.js";
import type * as manage_bulkFind from "../manage/bulkFind.js";
import type * as manage_bulkStep from "../manage/bulkStep.js";
import type * as manage_cancel from "../manage/cancel.js";
import type * as manage_control from "../manage/control.js";
import type * as manage_items from "../manage/items.js";
import type * as manage_quiet from "../manage/quiet.js";
import type * as manage_replace from "../manage/replace.js";
import type * as manage_retry from "../manage/retry.js";
import type * as observe from "../observe.js";
import type * as operate from "../operate.js";
import type * as push_beginLane from "../push/beginLane.js";
import type * as push_execute from "../push/execute.js";
import type * as push_grants from "../push/grants.js";
import type * as push_handOvers from "../push/handOvers.js";
import type * as push_idleShutdown from "../push/idleShutdown.js";
import type * as push_laneAction from "../push/laneAction.js";
import type * as push_laneApart from "../push/laneApart.js";
import type * as push_laneJobs from "../push/laneJobs.js";
import type * as push_laneOnce from "../push/laneOnce.js";
import type * as push_lanePlaces from "../push/lanePlaces.js";
import type * as push_laneReport from "../push/laneReport.js";
import type * as push_laneStep from "../push/laneStep.js";
import type * as push_lanes from "../push/lanes.js";
import type * as push_losses from "../push/losses.js";
import type * as push_mainLoop from "../push/mainLoop.js";
import type * as push_mount from "../push/mount.js";
import type * as push_results from "../push/results.js";
import type * as push_surplus from "../push/surplus.js";
import type * as push_undelivered from "../push/undelivered.js";
import type * as push_wake from "../push/wake.js";
import type * as rows_cancels from "../rows/cancels.js";
import type * as rows_conditions from "../rows/conditions.js";
import type * as rows_cursors from "../rows/cursors.js";
import type * as rows_duties from "../rows/duties.js";
import type * as rows_effects from "../rows/effects.js";
import type * as rows_events from "../rows/events.js";
import type * as rows_jobNotes from "../rows/jobNotes.js";
import type * as rows_jobRules from "../rows/jobRules.js";
import type * as rows_jobs from "../rows/jobs.js";
import type * as rows_keys from "../rows/keys.js";
import type * as rows_log from "../rows/log.js";
import type * as rows_payloads from "../rows/payloads.js";
import type * as rows_queues from "../rows/queues.js";
import type * as rows_quotas from "../rows/quotas.js";
import type * as rows_routes from "../rows/routes.js";
import type * as rows_rowBytes from "../rows/rowBytes.js";
import type * as rows_sessions from "../rows/sessions.js";
import type * as rows_stored from "../rows/stored.js";
import type * as rows_tables_jobs from "../rows/tables/jobs.js";
import type * as rows_tables_push from "../rows/tables/push.js";
import type * as rows_tables_upkeep from "../rows/tables/upkeep.js";
import type * as rows_tables_workers from "../rows/tables/workers.js";
import type * as rows_tokenSessions from "../rows/tokenSessions.js";
import type * as rows_tokens from "../rows/tokens.js";
import type * as tables from "../tables.js";
import type * as tend_janitor from "../tend/janitor.js";
import type * as tend_lostLeases from "../tend/lostLeases.js";
import type * as tend_publishPlan from "../tend/publishPlan.js";
import type * as tend_revoked from "../tend/revoked.js";
import type * as tend_sweepPlan from "../tend/sweepPlan.js";
import type * as tend_tend from "../tend/tend.js";
import type * as tend_watchdog from "../tend/watchdog.js";
import type * as views_attempts from "../views/attempts.js";
import type * as views_byKey from "../views/byKey.js";
import type * as views_concatStreams from "../views/concatStreams.js";
import type * as views_eligibleWorkers from "../views/eligibleWorkers.js";
import type * as views_list from "../views/list.js";
import type * as views_listed from "../views/listed.js";
import type * as views_metrics from "../views/metrics.js";
import type * as views_overview from "../views/overview.js";
import type * as views_payload from "../views/payload.js";
import type * as views_position from "../views/position.js";
import type * as views_runStatus from "../views/runStatus.js";
import type * as views_stats from "../views/stats.js";
import type * as views_status from "../views/status.js";
import type * as views_statusSections from "../views/statusSections.js";
import type * as views_why from "../views/why.js";
import type * as views_workers from "../views/workers.js";
import type * as workpool from "../workpool.js";

import type {
  ApiFromModules,
  FilterApi,
  FunctionReference,
} from "convex/server";
import { anyApi, componentsGeneric } from "convex/server";

const fullApi: ApiFromModules<{
  "attempts/attemptRows": typeof attempts_attemptRows;
  "attempts/blocked": typeof attempts_blocked;
  "attempts/chunks": typeof attempts_chunks;
  "attempts/complete": typeof attempts_complete;
  "attempts/completeLater": typeof attempts_completeLater;
  "attempts/continued": typeof attempts_continued;
  "attempts/failing": typeof attempts_failing;
  "attempts/heartbeat": typeof attempts_heartbeat;
  "attempts/leave": typeof attempts_leave;
  "attempts/logs": typeof attempts_logs;
  "attempts/outcomes": typeof attempts_outcomes;
  "attempts/pages": typeof attempts_pages;
  "attempts/recording": typeof attempts_recording;
  "attempts/report": typeof attempts_report;
  "attempts/reportChecks": typeof attempts_reportChecks;
  "attempts/reportRoom": typeof attempts_reportRoom;
  "attempts/reported": typeof attempts_reported;
  "attempts/takeBack": typeof attempts_takeBack;
  "claim/assignment": typeof claim_assignment;
  "claim/callNumbers": typeof claim_callNumbers;
  "claim/callUps": typeof claim_callUps;
  "claim/choose": typeof claim_choose;
  "claim/claim": typeof claim_claim;
  "claim/claimCall": typeof claim_claimCall;
  "claim/claimablePlaces": typeof claim_claimablePlaces;
  "claim/fleet": typeof claim_fleet;
  "claim/hasWork": typeof claim_hasWork;
  "claim/leaseBatch": typeof claim_leaseBatch;
  "claim/named": typeof claim_named;
  "claim/nextCursor": typeof claim_nextCursor;
  "claim/onCall": typeof claim_onCall;
  "claim/peek": typeof claim_peek;
  "claim/picking": typeof claim_picking;
  "claim/tableRows": typeof claim_tableRows;
  config: typeof config;
  "count/arrivals": typeof count_arrivals;
  "count/counts": typeof count_counts;
  "count/finished": typeof count_finished;
  "count/gauge": typeof count_gauge;
  "count/oldest": typeof count_oldest;
  "count/periodRows": typeof count_periodRows;
  "count/purge": typeof count_purge;
  "count/queueFlow": typeof count_queueFlow;
  "count/remove": typeof count_remove;
  "count/rollUp": typeof count_rollUp;
  "count/uncounted": typeof count_uncounted;
  "edges/applyEffects": typeof edges_applyEffects;
  "edges/callbacks": typeof edges_callbacks;
  "edges/deadlines": typeof edges_deadlines;
  "edges/dispatcher": typeof edges_dispatcher;
  "edges/ending": typeof edges_ending;
  "edges/mayTake": typeof edges_mayTake;
  "edges/pendingPlace": typeof edges_pendingPlace;
  "edges/processTime": typeof edges_processTime;
  "edges/startDeadlines": typeof edges_startDeadlines;
  "edges/transitions": typeof edges_transitions;
  "edges/wakes": typeof edges_wakes;
  "enter/declare": typeof enter_declare;
  "enter/enqueue": typeof enter_enqueue;
  "index/listIndex": typeof index_listIndex;
  "index/outsideWorkers": typeof index_outsideWorkers;
  "index/rowsAfter": typeof index_rowsAfter;
  "index/scan": typeof index_scan;
  lib: typeof lib;
  "loops/loop": typeof loops_loop;
  "loops/segments": typeof loops_segments;
  "loops/timers": typeof loops_timers;
  "manage/bulk": typeof manage_bulk;
  "manage/bulkFind": typeof manage_bulkFind;
  "manage/bulkStep": typeof manage_bulkStep;
  "manage/cancel": typeof manage_cancel;
  "manage/control": typeof manage_control;
  "manage/items": typeof manage_items;
  "manage/quiet": typeof manage_quiet;
  "manage/replace": typeof manage_replace;
  "manage/retry": typeof manage_retry;
  observe: typeof observe;
  operate: typeof operate;
  "push/beginLane": typeof push_beginLane;
  "push/execute": typeof push_execute;
  "push/grants": typeof push_grants;
  "push/handOvers": typeof push_handOvers;
  "push/idleShutdown": typeof push_idleShutdown;
  "push/laneAction": typeof push_laneAction;
  "push/laneApart": typeof push_laneApart;
  "push/laneJobs": typeof push_laneJobs;
  "push/laneOnce": typeof push_laneOnce;
  "push/lanePlaces": typeof push_lanePlaces;
  "push/laneReport": typeof push_laneReport;
  "push/laneStep": typeof push_laneStep;
  "push/lanes": typeof push_lanes;
  "push/losses": typeof push_losses;
  "push/mainLoop": typeof push_mainLoop;
  "push/mount": typeof push_mount;
  "push/results": typeof push_results;
  "push/surplus": typeof push_surplus;
  "push/undelivered": typeof push_undelivered;
  "push/wake": typeof push_wake;
  "rows/cancels": typeof rows_cancels;
  "rows/conditions": typeof rows_conditions;
  "rows/cursors": typeof rows_cursors;
  "rows/duties": typeof rows_duties;
  "rows/effects": typeof rows_effects;
  "rows/events": typeof rows_events;
  "rows/jobNotes": typeof rows_jobNotes;
  "rows/jobRules": typeof rows_jobRules;
  "rows/jobs": typeof rows_jobs;
  "rows/keys": typeof rows_keys;
  "rows/log": typeof rows_log;
  "rows/payloads": typeof rows_payloads;
  "rows/queues": typeof rows_queues;
  "rows/quotas": typeof rows_quotas;
  "rows/routes": typeof rows_routes;
  "rows/rowBytes": typeof rows_rowBytes;
  "rows/sessions": typeof rows_sessions;
  "rows/stored": typeof rows_stored;
  "rows/tables/jobs": typeof rows_tables_jobs;
  "rows/tables/push": typeof rows_tables_push;
  "rows/tables/upkeep": typeof rows_tables_upkeep;
  "rows/tables/workers": typeof rows_tables_workers;
  "rows/tokenSessions": typeof rows_tokenSessions;
  "rows/tokens": typeof rows_tokens;
  tables: typeof tables;
  "tend/janitor": typeof tend_janitor;
  "tend/lostLeases": typeof tend_lostLeases;
  "tend/publishPlan": typeof tend_publishPlan;
  "tend/revoked": typeof tend_revoked;
  "tend/sweepPlan": typeof tend_sweepPlan;
  "tend/tend": typeof tend_tend;
  "tend/watchdog": typeof tend_watchdog;
  "views/attempts": typeof views_attempts;
  "views/byKey": typeof views_byKey;
  "views/concatStreams": typeof views_concatStreams;
  "views/eligibleWorkers": typeof views_eligibleWorkers;
  "views/list": typeof views_list;
  "views/listed": typeof views_listed;
  "views/metrics": typeof views_metrics;
  "views/overview": typeof views_overview;
  "views/payload": typeof views_payload;
  "views/position": typeof views_position;
  "views/runStatus": typeof views_runStatus;
  "views/stats": typeof views_stats;
  "views/status": typeof views_status;
  "views/statusSections": typeof views_statusSections;
  "views/why": typeof views_why;
  "views/workers": typeof views_workers;
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
