/**
 * The context that calls carry, from the outermost to the innermost: the request, the transaction attempt, the
 * execution of one function. Only types; nothing here runs.
 */
import type { Environment } from "../environment.js";
import type { Database, Transaction } from "../engine/types.js";
import type { Files } from "../files/files.js";
import type { ClassLimits, DeploymentClass } from "./classes.js";
import type { Events } from "./events.js";
import type { Isolate, Isolation } from "./invoke.js";
import type { Target } from "./lookup.js";
import type { Permits } from "./permits.js";
import type { Random } from "./random.js";
import type { Deployment, FunctionAddress, Identity, LogLine } from "./types.js";
import type { WriteRate } from "./writeRate.js";

/** The services that one runner shares among all its calls. */
export interface Services {
  env: Environment;
  database: Database;
  /** Where functions run. */
  sandboxes: Isolation;
  events: Events;
  files: Files;
  permits: Permits;
  /** Actions that have begun and not ended, also while they wait for a permit. */
  runningActions: Set<RunningAction>;
  writeRate: WriteRate;
  options: RunnerSettings;
  /** The latest push. A call keeps the one that it began with. */
  deployment(): Deployment;
}

export interface RunningAction {
  address: FunctionAddress;
  /** For a scheduled action, and for the functions that it calls, the id of its row. */
  requestId: string;
  lose(): void;
}

/** A runner's options, with their defaults. */
export interface RunnerSettings {
  class: DeploymentClass;
  limits: ClassLimits;
  deploymentName: string;
  actionOperations: number;
  actionTimeoutMs: { v8: number; node: number };
  cronSplayMs: number;
  /** Where time is modelled. */
  userTimeMs: number;
}

/** A scheduled function's row. Ids mean something only in their own namespace. */
export interface ScheduledId {
  namespace: string;
  id: string;
}

/** The same for a client's call and everything that is called on its behalf, actions' mutations included. */
export interface Request {
  requestId: string;
  identity: Identity;
  /** The scheduled function that all this runs under: every schedule below it shares its cancellation. */
  scheduledBy: ScheduledId | null;
}

/** One attempt of one query or mutation, nested calls included. */
export interface TransactionScope {
  request: Request;
  deployment: Deployment;
  tx: Transaction;
  /** `Date.now()` for the whole transaction: whole milliseconds, taken when the attempt began. */
  now: number;
  /** Of this attempt alone: the log lines of an attempt that lost are never shown. */
  logs: LogLine[];
  /** Whether the result may change by the mere passing of time, and whether it depends on the caller. */
  observed: { time: boolean; identity: boolean };
  /** Where the outermost function's page ended when it ran before, and where it ends now. */
  journal: { before: string | null; now: string | null };
  scheduled: { functions: number; argsBytes: number };
}

/** One function's run inside a transaction. */
export interface Execution {
  scope: TransactionScope;
  target: Target;
  random: Random;
  /** 0 for the function that the client called; one more for each call inside. */
  depth: number;
  /** Where the whole transaction runs. Absent until its outermost function begins. */
  isolate?: Isolate;
}
