/* eslint-disable */
/**
 * Generated `ComponentApi` utility.
 *
 * THIS CODE IS AUTOMATICALLY GENERATED.
 *
 * To regenerate, run `npx convex dev`.
 * @module
 */

import type { FunctionReference } from "convex/server";

/**
 * A utility for referencing a Convex component's exposed API.
 *
 * Useful when expecting a parameter like `components.myComponent`.
 * Usage:
 * ```ts
 * async function myFunction(ctx: QueryCtx, component: ComponentApi) {
 *   return ctx.runQuery(component.someFile.someQuery, { ...args });
 * }
 * ```
 */
export type ComponentApi<Name extends string | undefined = string | undefined> =
  {
    config: {
      update: FunctionReference<
        "mutation",
        "internal",
        {
          maxParallelism?: number;
          logLevel?: "DEBUG" | "TRACE" | "INFO" | "REPORT" | "WARN" | "ERROR";
        },
        null,
        Name
      >;
    };
    lib: {
      attempts: FunctionReference<
        "query",
        "internal",
        { id: string; queue?: string; limit?: number },
        Array<
          | {
              attempt: number;
              worker?: string;
              startedAt?: number;
              outcome: "running";
            }
          | {
              attempt: number;
              worker?: string;
              startedAt?: number;
              outcome: "succeeded";
              endedAt: number;
            }
          | {
              attempt: number;
              worker?: string;
              startedAt?: number;
              outcome: "failed";
              endedAt: number;
              error?: string;
              trace?: string;
            }
          | {
              attempt: number;
              worker?: string;
              startedAt?: number;
              outcome: "timedOut";
              endedAt: number;
              error?: string;
              trace?: string;
            }
          | {
              attempt: number;
              worker?: string;
              startedAt?: number;
              outcome: "lost";
              endedAt: number;
              error?: string;
              trace?: string;
            }
          | {
              attempt: number;
              worker?: string;
              startedAt?: number;
              outcome: "released";
              endedAt: number;
              error?: string;
              trace?: string;
            }
          | {
              attempt: number;
              worker?: string;
              startedAt?: number;
              outcome: "snoozed";
              endedAt: number;
              error?: string;
              trace?: string;
            }
          | {
              attempt: number;
              worker?: string;
              startedAt?: number;
              outcome: "canceled";
              endedAt: number;
              error?: string;
              trace?: string;
            }
        > | null,
        Name
      >;
      cancellations: FunctionReference<
        "query",
        "internal",
        { token: string; sessionKey: string },
        Array<{ id: string; attempt: number }>,
        Name
      >;
      checkToken: FunctionReference<
        "query",
        "internal",
        { token: string },
        {
          id: string;
          name: string;
          queues: Array<string> | null;
          groups: Array<string> | { prefix: string } | "byQuery" | null;
        },
        Name
      >;
      claim: FunctionReference<
        "mutation",
        "internal",
        {
          token: string;
          sessionKey: string;
          callSeq: number;
          name: string;
          queues: Array<{
            name: string;
            config: {
              leaseMs: number;
              graceMs?: number;
              maxResets: number;
              shards: number;
              retry?: {
                maxAttempts: number;
                initialBackoffMs: number;
                base: number;
                maxBackoffMs: number;
                jitter?: "full" | "equal" | "none";
              };
              timeoutMs?: number;
              expiresAfterMs?: number;
              deadlineMs?: number;
              circular?: boolean;
              restMs?: number;
              retention?: {
                succeededMs: number;
                failedMs: number;
                canceledMs: number;
                timedOutMs: number;
              };
              onComplete?: string;
              onCompleteExclude?: Array<
                "succeeded" | "failed" | "canceled" | "timedOut"
              >;
              logLevel?: "debug" | "info" | "warn" | "error";
              push?: boolean;
              handler?: {
                kind: "action" | "mutation" | "query" | "inline";
                handle: string;
                takes: "payload" | "job";
              };
              maxParallelism?: number;
              fallbackAfterMs?: number;
              handlerMissingAfterMs?: number;
              schedulerShare?: number;
              result?: string;
              listBy?: Array<"tag" | "group">;
            };
          }>;
          max: number;
          cursor?: string;
          woken?: boolean;
          named?: Array<string>;
          lookIn?: Array<string>;
          waited?: boolean;
          placed?: boolean;
          rows?: Array<{ queue: string; ids: Array<string>; all?: boolean }>;
          onCall?: {
            peers: string;
            more?: number;
            room?: number;
            prefers?: Array<string>;
            presenceMs?: number;
          };
          labels?: Array<string>;
          maxCost?: number;
          groups?: Array<string>;
          groupsOf?: string;
          about?: {
            startedAt: number;
            version: string;
            appVersion?: string;
            hostname?: string;
            pid?: number;
            slots: number;
            mode?: "quiet" | "draining";
          };
        },
        {
          jobs: Array<{
            id: string;
            queue: string;
            payload: any;
            attempt: number;
            failures: number;
            resets: number;
            leaseMs: number;
            timeoutMs?: number;
            enqueuedAt: number;
            name?: string;
            priority?: number;
            group?: string;
            tags?: Array<string>;
            labels?: Array<string>;
            cost?: number;
            rounds?: number;
            traceparent?: string;
            claimableAt?: number;
            related?: any;
          }>;
          session: string;
          fleet?: { size: number; rank: number | null };
          places?: Array<{
            size: number;
            rank: number | null;
            queues: Array<string>;
          }>;
          isLate?: boolean;
          isQuiet?: boolean;
          busyRows?: Array<string>;
          duty?: {
            kind: "onCall" | "standby" | "watch" | "off";
            since?: number;
            size?: number;
            rank?: number;
            nextMs?: number;
          };
          cursor: string;
        },
        Name
      >;
      complete: FunctionReference<
        "mutation",
        "internal",
        {
          token: string;
          sessionKey: string;
          callSeq: number;
          finished: Array<{
            id: string;
            attempt: number;
            outcome:
              | { kind: "succeeded"; result?: any }
              | {
                  kind: "failed";
                  error: string;
                  trace?: string;
                  retryable?: boolean;
                  retryAfterMs?: number;
                  timedOut?: boolean;
                }
              | { kind: "released" }
              | {
                  kind: "snoozed";
                  runAfter: number;
                  blocked?: "handlerMissing" | "noPermit";
                  error?: string;
                }
              | { kind: "canceled" };
            fits?: Array<string>;
            continued?: Array<{
              queue: {
                name: string;
                config: {
                  leaseMs: number;
                  graceMs?: number;
                  maxResets: number;
                  shards: number;
                  retry?: {
                    maxAttempts: number;
                    initialBackoffMs: number;
                    base: number;
                    maxBackoffMs: number;
                    jitter?: "full" | "equal" | "none";
                  };
                  timeoutMs?: number;
                  expiresAfterMs?: number;
                  deadlineMs?: number;
                  circular?: boolean;
                  restMs?: number;
                  retention?: {
                    succeededMs: number;
                    failedMs: number;
                    canceledMs: number;
                    timedOutMs: number;
                  };
                  onComplete?: string;
                  onCompleteExclude?: Array<
                    "succeeded" | "failed" | "canceled" | "timedOut"
                  >;
                  logLevel?: "debug" | "info" | "warn" | "error";
                  push?: boolean;
                  handler?: {
                    kind: "action" | "mutation" | "query" | "inline";
                    handle: string;
                    takes: "payload" | "job";
                  };
                  maxParallelism?: number;
                  fallbackAfterMs?: number;
                  handlerMissingAfterMs?: number;
                  schedulerShare?: number;
                  result?: string;
                  listBy?: Array<"tag" | "group">;
                };
              };
              jobs: Array<{
                payload: any;
                options?: {
                  name?: string;
                  priority?: number;
                  runAt?: number;
                  runAfter?: number;
                  key?: {
                    value: string;
                    windowMs?: number;
                    onConflict?: "existing" | "replace" | "refuse";
                  };
                  group?: string;
                  tags?: Array<string>;
                  labels?: Array<string>;
                  prefer?: {
                    labels?: Array<string>;
                    worker?: string;
                    forMs: number;
                  };
                  cost?: number;
                  expiresAfterMs?: number;
                  deadlineMs?: number;
                  context?: any;
                  traceparent?: string;
                  rules?: {
                    retry?: {
                      maxAttempts: number;
                      initialBackoffMs: number;
                      base: number;
                      maxBackoffMs: number;
                      jitter?: "full" | "equal" | "none";
                    };
                    maxResets?: number;
                    leaseMs?: number;
                    timeoutMs?: number;
                    onComplete?: string;
                    onCompleteExclude?: Array<
                      "succeeded" | "failed" | "canceled" | "timedOut"
                    >;
                    handler?: {
                      kind: "action" | "mutation" | "query" | "inline";
                      handle: string;
                      takes: "payload" | "job";
                    };
                  };
                };
              }>;
            }>;
          }>;
          claim?: {
            queues: Array<{
              name: string;
              config: {
                leaseMs: number;
                graceMs?: number;
                maxResets: number;
                shards: number;
                retry?: {
                  maxAttempts: number;
                  initialBackoffMs: number;
                  base: number;
                  maxBackoffMs: number;
                  jitter?: "full" | "equal" | "none";
                };
                timeoutMs?: number;
                expiresAfterMs?: number;
                deadlineMs?: number;
                circular?: boolean;
                restMs?: number;
                retention?: {
                  succeededMs: number;
                  failedMs: number;
                  canceledMs: number;
                  timedOutMs: number;
                };
                onComplete?: string;
                onCompleteExclude?: Array<
                  "succeeded" | "failed" | "canceled" | "timedOut"
                >;
                logLevel?: "debug" | "info" | "warn" | "error";
                push?: boolean;
                handler?: {
                  kind: "action" | "mutation" | "query" | "inline";
                  handle: string;
                  takes: "payload" | "job";
                };
                maxParallelism?: number;
                fallbackAfterMs?: number;
                handlerMissingAfterMs?: number;
                schedulerShare?: number;
                result?: string;
                listBy?: Array<"tag" | "group">;
              };
            }>;
            max: number;
            cursor?: string;
            woken?: boolean;
            named?: Array<string>;
            lookIn?: Array<string>;
            waited?: boolean;
            placed?: boolean;
            rows?: Array<{ queue: string; ids: Array<string>; all?: boolean }>;
            onCall?: {
              peers: string;
              more?: number;
              room?: number;
              prefers?: Array<string>;
              presenceMs?: number;
            };
            labels?: Array<string>;
            maxCost?: number;
            groups?: Array<string>;
            groupsOf?: string;
          };
          deferCallbacks?: boolean;
          held?: Array<{ id: string; attempt: number }>;
          about?: {
            startedAt: number;
            version: string;
            appVersion?: string;
            hostname?: string;
            pid?: number;
            slots: number;
            mode?: "quiet" | "draining";
          };
        },
        {
          answers: Array<{
            id: string;
            attempt: number;
            answer: "ok" | "recorded" | "leaseLost" | "canceled";
          }>;
          held?: Array<{
            id: string;
            attempt: number;
            answer: "ok" | "recorded" | "leaseLost" | "canceled";
          }>;
          jobs: Array<{
            id: string;
            queue: string;
            payload: any;
            attempt: number;
            failures: number;
            resets: number;
            leaseMs: number;
            timeoutMs?: number;
            enqueuedAt: number;
            name?: string;
            priority?: number;
            group?: string;
            tags?: Array<string>;
            labels?: Array<string>;
            cost?: number;
            rounds?: number;
            traceparent?: string;
            claimableAt?: number;
            related?: any;
          }>;
          session: string;
          fleet?: { size: number; rank: number | null };
          places?: Array<{
            size: number;
            rank: number | null;
            queues: Array<string>;
          }>;
          isLate?: boolean;
          isQuiet?: boolean;
          busyRows?: Array<string>;
          duty?: {
            kind: "onCall" | "standby" | "watch" | "off";
            since?: number;
            size?: number;
            rank?: number;
            nextMs?: number;
          };
          cursor?: string;
        },
        Name
      >;
      completeLater: FunctionReference<
        "mutation",
        "internal",
        {
          token: string;
          sessionKey: string;
          finished: {
            id: string;
            attempt: number;
            outcome:
              | { kind: "succeeded"; result?: any }
              | {
                  kind: "failed";
                  error: string;
                  trace?: string;
                  retryable?: boolean;
                  retryAfterMs?: number;
                  timedOut?: boolean;
                }
              | { kind: "released" }
              | {
                  kind: "snoozed";
                  runAfter: number;
                  blocked?: "handlerMissing" | "noPermit";
                  error?: string;
                }
              | { kind: "canceled" };
            fits?: Array<string>;
            continued?: Array<{
              queue: {
                name: string;
                config: {
                  leaseMs: number;
                  graceMs?: number;
                  maxResets: number;
                  shards: number;
                  retry?: {
                    maxAttempts: number;
                    initialBackoffMs: number;
                    base: number;
                    maxBackoffMs: number;
                    jitter?: "full" | "equal" | "none";
                  };
                  timeoutMs?: number;
                  expiresAfterMs?: number;
                  deadlineMs?: number;
                  circular?: boolean;
                  restMs?: number;
                  retention?: {
                    succeededMs: number;
                    failedMs: number;
                    canceledMs: number;
                    timedOutMs: number;
                  };
                  onComplete?: string;
                  onCompleteExclude?: Array<
                    "succeeded" | "failed" | "canceled" | "timedOut"
                  >;
                  logLevel?: "debug" | "info" | "warn" | "error";
                  push?: boolean;
                  handler?: {
                    kind: "action" | "mutation" | "query" | "inline";
                    handle: string;
                    takes: "payload" | "job";
                  };
                  maxParallelism?: number;
                  fallbackAfterMs?: number;
                  handlerMissingAfterMs?: number;
                  schedulerShare?: number;
                  result?: string;
                  listBy?: Array<"tag" | "group">;
                };
              };
              jobs: Array<{
                payload: any;
                options?: {
                  name?: string;
                  priority?: number;
                  runAt?: number;
                  runAfter?: number;
                  key?: {
                    value: string;
                    windowMs?: number;
                    onConflict?: "existing" | "replace" | "refuse";
                  };
                  group?: string;
                  tags?: Array<string>;
                  labels?: Array<string>;
                  prefer?: {
                    labels?: Array<string>;
                    worker?: string;
                    forMs: number;
                  };
                  cost?: number;
                  expiresAfterMs?: number;
                  deadlineMs?: number;
                  context?: any;
                  traceparent?: string;
                  rules?: {
                    retry?: {
                      maxAttempts: number;
                      initialBackoffMs: number;
                      base: number;
                      maxBackoffMs: number;
                      jitter?: "full" | "equal" | "none";
                    };
                    maxResets?: number;
                    leaseMs?: number;
                    timeoutMs?: number;
                    onComplete?: string;
                    onCompleteExclude?: Array<
                      "succeeded" | "failed" | "canceled" | "timedOut"
                    >;
                    handler?: {
                      kind: "action" | "mutation" | "query" | "inline";
                      handle: string;
                      takes: "payload" | "job";
                    };
                  };
                };
              }>;
            }>;
          };
        },
        null,
        Name
      >;
      counts: FunctionReference<
        "query",
        "internal",
        { queue: string; limit?: number },
        {
          scheduled: { count: number; more: boolean; retrying?: number };
          pending: { count: number; more: boolean };
          running: { count: number; more: boolean };
          succeeded: { count: number; more: boolean };
          failed: { count: number; more: boolean };
          canceled: { count: number; more: boolean };
          timedOut: { count: number; more: boolean };
        },
        Name
      >;
      declare: FunctionReference<
        "mutation",
        "internal",
        {
          queues: Array<{
            name: string;
            config: {
              leaseMs: number;
              graceMs?: number;
              maxResets: number;
              shards: number;
              retry?: {
                maxAttempts: number;
                initialBackoffMs: number;
                base: number;
                maxBackoffMs: number;
                jitter?: "full" | "equal" | "none";
              };
              timeoutMs?: number;
              expiresAfterMs?: number;
              deadlineMs?: number;
              circular?: boolean;
              restMs?: number;
              retention?: {
                succeededMs: number;
                failedMs: number;
                canceledMs: number;
                timedOutMs: number;
              };
              onComplete?: string;
              onCompleteExclude?: Array<
                "succeeded" | "failed" | "canceled" | "timedOut"
              >;
              logLevel?: "debug" | "info" | "warn" | "error";
              push?: boolean;
              handler?: {
                kind: "action" | "mutation" | "query" | "inline";
                handle: string;
                takes: "payload" | "job";
              };
              maxParallelism?: number;
              fallbackAfterMs?: number;
              handlerMissingAfterMs?: number;
              schedulerShare?: number;
              result?: string;
              listBy?: Array<"tag" | "group">;
            };
          }>;
        },
        null,
        Name
      >;
      enqueue: FunctionReference<
        "mutation",
        "internal",
        {
          queue: {
            name: string;
            config: {
              leaseMs: number;
              graceMs?: number;
              maxResets: number;
              shards: number;
              retry?: {
                maxAttempts: number;
                initialBackoffMs: number;
                base: number;
                maxBackoffMs: number;
                jitter?: "full" | "equal" | "none";
              };
              timeoutMs?: number;
              expiresAfterMs?: number;
              deadlineMs?: number;
              circular?: boolean;
              restMs?: number;
              retention?: {
                succeededMs: number;
                failedMs: number;
                canceledMs: number;
                timedOutMs: number;
              };
              onComplete?: string;
              onCompleteExclude?: Array<
                "succeeded" | "failed" | "canceled" | "timedOut"
              >;
              logLevel?: "debug" | "info" | "warn" | "error";
              push?: boolean;
              handler?: {
                kind: "action" | "mutation" | "query" | "inline";
                handle: string;
                takes: "payload" | "job";
              };
              maxParallelism?: number;
              fallbackAfterMs?: number;
              handlerMissingAfterMs?: number;
              schedulerShare?: number;
              result?: string;
              listBy?: Array<"tag" | "group">;
            };
          };
          jobs: Array<{
            payload: any;
            options?: {
              name?: string;
              priority?: number;
              runAt?: number;
              runAfter?: number;
              key?: {
                value: string;
                windowMs?: number;
                onConflict?: "existing" | "replace" | "refuse";
              };
              group?: string;
              tags?: Array<string>;
              labels?: Array<string>;
              prefer?: {
                labels?: Array<string>;
                worker?: string;
                forMs: number;
              };
              cost?: number;
              expiresAfterMs?: number;
              deadlineMs?: number;
              context?: any;
              traceparent?: string;
              rules?: {
                retry?: {
                  maxAttempts: number;
                  initialBackoffMs: number;
                  base: number;
                  maxBackoffMs: number;
                  jitter?: "full" | "equal" | "none";
                };
                maxResets?: number;
                leaseMs?: number;
                timeoutMs?: number;
                onComplete?: string;
                onCompleteExclude?: Array<
                  "succeeded" | "failed" | "canceled" | "timedOut"
                >;
                handler?: {
                  kind: "action" | "mutation" | "query" | "inline";
                  handle: string;
                  takes: "payload" | "job";
                };
              };
            };
          }>;
        },
        Array<{ id: string; isNew: boolean; tooLate?: boolean }>,
        Name
      >;
      hasWork: FunctionReference<
        "query",
        "internal",
        {
          token: string;
          queues: Array<string>;
          naming?: boolean;
          labels?: Array<string>;
          maxCost?: number;
          groups?: Array<string>;
          cursor?: string;
          groupsOf?: string;
          worker?: string;
        },
        | boolean
        | {
            jobs: Array<{
              id: string;
              failedBy?: Array<string>;
              worker?: string;
            }>;
            more: boolean;
          },
        Name
      >;
      heartbeat: FunctionReference<
        "mutation",
        "internal",
        {
          token: string;
          sessionKey: string;
          leases: Array<{ id: string; attempt: number }>;
          about?: {
            startedAt: number;
            version: string;
            appVersion?: string;
            hostname?: string;
            pid?: number;
            slots: number;
            mode?: "quiet" | "draining";
          };
          onCall?: {
            peers: string;
            more?: number;
            room?: number;
            prefers?: Array<string>;
            presenceMs?: number;
          };
        },
        {
          answers: Array<{
            id: string;
            attempt: number;
            answer: "ok" | "recorded" | "leaseLost" | "canceled";
          }>;
          isLate?: boolean;
          isQuiet?: boolean;
          fleet?: number;
          duty?: {
            kind: "onCall" | "standby" | "watch" | "off";
            since?: number;
            size?: number;
            rank?: number;
            nextMs?: number;
          };
        },
        Name
      >;
      isQuiet: FunctionReference<
        "query",
        "internal",
        { token: string; sessionKey: string },
        boolean,
        Name
      >;
      laneApart: FunctionReference<
        "mutation",
        "internal",
        {
          id: string;
          attempt: number;
          finished?: {
            id: string;
            attempt: number;
            outcome:
              | { kind: "succeeded"; result?: any }
              | {
                  kind: "failed";
                  error: string;
                  trace?: string;
                  retryable?: boolean;
                  retryAfterMs?: number;
                  timedOut?: boolean;
                }
              | { kind: "released" }
              | {
                  kind: "snoozed";
                  runAfter: number;
                  blocked?: "handlerMissing" | "noPermit";
                  error?: string;
                }
              | { kind: "canceled" };
            fits?: Array<string>;
            continued?: Array<{
              queue: {
                name: string;
                config: {
                  leaseMs: number;
                  graceMs?: number;
                  maxResets: number;
                  shards: number;
                  retry?: {
                    maxAttempts: number;
                    initialBackoffMs: number;
                    base: number;
                    maxBackoffMs: number;
                    jitter?: "full" | "equal" | "none";
                  };
                  timeoutMs?: number;
                  expiresAfterMs?: number;
                  deadlineMs?: number;
                  circular?: boolean;
                  restMs?: number;
                  retention?: {
                    succeededMs: number;
                    failedMs: number;
                    canceledMs: number;
                    timedOutMs: number;
                  };
                  onComplete?: string;
                  onCompleteExclude?: Array<
                    "succeeded" | "failed" | "canceled" | "timedOut"
                  >;
                  logLevel?: "debug" | "info" | "warn" | "error";
                  push?: boolean;
                  handler?: {
                    kind: "action" | "mutation" | "query" | "inline";
                    handle: string;
                    takes: "payload" | "job";
                  };
                  maxParallelism?: number;
                  fallbackAfterMs?: number;
                  handlerMissingAfterMs?: number;
                  schedulerShare?: number;
                  result?: string;
                  listBy?: Array<"tag" | "group">;
                };
              };
              jobs: Array<{
                payload: any;
                options?: {
                  name?: string;
                  priority?: number;
                  runAt?: number;
                  runAfter?: number;
                  key?: {
                    value: string;
                    windowMs?: number;
                    onConflict?: "existing" | "replace" | "refuse";
                  };
                  group?: string;
                  tags?: Array<string>;
                  labels?: Array<string>;
                  prefer?: {
                    labels?: Array<string>;
                    worker?: string;
                    forMs: number;
                  };
                  cost?: number;
                  expiresAfterMs?: number;
                  deadlineMs?: number;
                  context?: any;
                  traceparent?: string;
                  rules?: {
                    retry?: {
                      maxAttempts: number;
                      initialBackoffMs: number;
                      base: number;
                      maxBackoffMs: number;
                      jitter?: "full" | "equal" | "none";
                    };
                    maxResets?: number;
                    leaseMs?: number;
                    timeoutMs?: number;
                    onComplete?: string;
                    onCompleteExclude?: Array<
                      "succeeded" | "failed" | "canceled" | "timedOut"
                    >;
                    handler?: {
                      kind: "action" | "mutation" | "query" | "inline";
                      handle: string;
                      takes: "payload" | "job";
                    };
                  };
                };
              }>;
            }>;
          };
          timeoutMs?: number;
          claimableAt?: number;
          deferCallbacks?: boolean;
        },
        {
          id: string;
          attempt: number;
          answer: "ok" | "recorded" | "leaseLost" | "canceled";
        },
        Name
      >;
      laneReport: FunctionReference<
        "mutation",
        "internal",
        {
          updates?: Array<{
            id: string;
            attempt: number;
            value: any;
            revision?: number;
          }>;
          logs?: Array<{
            id: string;
            attempt: number;
            entry: number;
            level: "debug" | "info" | "warn" | "error";
            message: string;
            data?: any;
            revision?: number;
          }>;
          output?: Array<{
            id: string;
            attempt: number;
            index: number;
            text: string;
          }>;
        },
        {
          answers: Array<{
            id: string;
            attempt: number;
            answer: "ok" | "recorded" | "leaseLost" | "canceled";
            nextIndex?: number;
            outputFull?: true;
            logsDropped?: number;
          }>;
        },
        Name
      >;
      laneStanding: FunctionReference<
        "query",
        "internal",
        { leases: Array<{ id: string; attempt: number }> },
        Array<{
          id: string;
          attempt: number;
          answer: "ok" | "recorded" | "leaseLost" | "canceled";
        }>,
        Name
      >;
      laneStep: FunctionReference<
        "mutation",
        "internal",
        {
          lane: string;
          generation: number;
          callSeq: number;
          finished: Array<{
            id: string;
            attempt: number;
            outcome:
              | { kind: "succeeded"; result?: any }
              | {
                  kind: "failed";
                  error: string;
                  trace?: string;
                  retryable?: boolean;
                  retryAfterMs?: number;
                  timedOut?: boolean;
                }
              | { kind: "released" }
              | {
                  kind: "snoozed";
                  runAfter: number;
                  blocked?: "handlerMissing" | "noPermit";
                  error?: string;
                }
              | { kind: "canceled" };
            fits?: Array<string>;
            continued?: Array<{
              queue: {
                name: string;
                config: {
                  leaseMs: number;
                  graceMs?: number;
                  maxResets: number;
                  shards: number;
                  retry?: {
                    maxAttempts: number;
                    initialBackoffMs: number;
                    base: number;
                    maxBackoffMs: number;
                    jitter?: "full" | "equal" | "none";
                  };
                  timeoutMs?: number;
                  expiresAfterMs?: number;
                  deadlineMs?: number;
                  circular?: boolean;
                  restMs?: number;
                  retention?: {
                    succeededMs: number;
                    failedMs: number;
                    canceledMs: number;
                    timedOutMs: number;
                  };
                  onComplete?: string;
                  onCompleteExclude?: Array<
                    "succeeded" | "failed" | "canceled" | "timedOut"
                  >;
                  logLevel?: "debug" | "info" | "warn" | "error";
                  push?: boolean;
                  handler?: {
                    kind: "action" | "mutation" | "query" | "inline";
                    handle: string;
                    takes: "payload" | "job";
                  };
                  maxParallelism?: number;
                  fallbackAfterMs?: number;
                  handlerMissingAfterMs?: number;
                  schedulerShare?: number;
                  result?: string;
                  listBy?: Array<"tag" | "group">;
                };
              };
              jobs: Array<{
                payload: any;
                options?: {
                  name?: string;
                  priority?: number;
                  runAt?: number;
                  runAfter?: number;
                  key?: {
                    value: string;
                    windowMs?: number;
                    onConflict?: "existing" | "replace" | "refuse";
                  };
                  group?: string;
                  tags?: Array<string>;
                  labels?: Array<string>;
                  prefer?: {
                    labels?: Array<string>;
                    worker?: string;
                    forMs: number;
                  };
                  cost?: number;
                  expiresAfterMs?: number;
                  deadlineMs?: number;
                  context?: any;
                  traceparent?: string;
                  rules?: {
                    retry?: {
                      maxAttempts: number;
                      initialBackoffMs: number;
                      base: number;
                      maxBackoffMs: number;
                      jitter?: "full" | "equal" | "none";
                    };
                    maxResets?: number;
                    leaseMs?: number;
                    timeoutMs?: number;
                    onComplete?: string;
                    onCompleteExclude?: Array<
                      "succeeded" | "failed" | "canceled" | "timedOut"
                    >;
                    handler?: {
                      kind: "action" | "mutation" | "query" | "inline";
                      handle: string;
                      takes: "payload" | "job";
                    };
                  };
                };
              }>;
            }>;
          }>;
          execute: Array<{ id: string; attempt: number }>;
          lastAckedCall: number;
          looks: number;
          over?: Array<{ id: string; attempt: number }>;
          sentAt?: number;
          handOver?: string;
          in?: {
            process: string;
            generation: number;
            version: string;
            endsAt: number;
            openUntil?: number;
            places: number;
            isFull: boolean;
            givenBack?: number;
            closes?: boolean;
            receivedUpTo?: bigint;
          };
        },
        {
          answers: Array<{
            id: string;
            attempt: number;
            answer: "ok" | "recorded" | "leaseLost" | "canceled";
          }>;
          jobs: Array<{
            job: {
              id: string;
              queue: string;
              payload: any;
              attempt: number;
              failures: number;
              resets: number;
              leaseMs: number;
              timeoutMs?: number;
              enqueuedAt: number;
              name?: string;
              priority?: number;
              group?: string;
              tags?: Array<string>;
              labels?: Array<string>;
              cost?: number;
              rounds?: number;
              traceparent?: string;
              claimableAt?: number;
              related?: any;
            };
            handler?: {
              kind: "action" | "mutation" | "query" | "inline";
              handle: string;
              takes: "payload" | "job";
            };
          }>;
          lookAfterMs: number | null;
          isOver: boolean;
          given?: number;
          isClosed?: boolean;
          handedOver?: {
            lanes: Array<{
              lane: string;
              generation: number;
              callSeq: number;
              lastAckedCall?: number;
              jobs: Array<{
                job: {
                  id: string;
                  queue: string;
                  payload: any;
                  attempt: number;
                  failures: number;
                  resets: number;
                  leaseMs: number;
                  timeoutMs?: number;
                  enqueuedAt: number;
                  name?: string;
                  priority?: number;
                  group?: string;
                  tags?: Array<string>;
                  labels?: Array<string>;
                  cost?: number;
                  rounds?: number;
                  traceparent?: string;
                  claimableAt?: number;
                  related?: any;
                };
                handler?: {
                  kind: "action" | "mutation" | "query" | "inline";
                  handle: string;
                  takes: "payload" | "job";
                };
              }>;
              lookAfterMs?: number;
              handOver?: string;
            }>;
            upTo: bigint;
            areWaiting: boolean;
            arePlaces?: boolean;
          };
          isLate?: boolean;
        },
        Name
      >;
      leave: FunctionReference<
        "mutation",
        "internal",
        {
          token: string;
          sessionKey: string;
          leases: Array<{ id: string; attempt: number }>;
          callSeq: number;
        },
        {
          answers: Array<{
            id: string;
            attempt: number;
            answer: "ok" | "recorded" | "leaseLost" | "canceled";
          }>;
        },
        Name
      >;
      logs: FunctionReference<
        "query",
        "internal",
        { id: string; queue?: string; cursor?: string; limit?: number },
        {
          queue: string;
          entries: Array<{
            attempt: number;
            entry: number;
            level: "debug" | "info" | "warn" | "error";
            message: string;
            data?: any;
            at: number;
            updatedAt?: number;
          }>;
          cursor: string;
          isDone: boolean;
        } | null,
        Name
      >;
      output: FunctionReference<
        "query",
        "internal",
        {
          id: string;
          queue?: string;
          attempt?: number;
          cursor?: string;
          fromIndex?: number;
          limit?: number;
        },
        {
          queue: string;
          attempt: number;
          lastAttempt: number;
          parts: Array<{ index: number; text: string }>;
          cursor: string;
          isDone: boolean;
        } | null,
        Name
      >;
      peek: FunctionReference<
        "query",
        "internal",
        {
          token: string;
          queues: Array<string>;
          limit?: number;
          labels?: Array<string>;
          maxCost?: number;
          groups?: Array<string>;
          cursor?: string;
          groupsOf?: string;
          worker?: string;
        },
        Array<{
          id: string;
          queue: string;
          priority: number;
          enqueuedAt: number;
          attempt: number;
          payload?: any;
          name?: string;
          group?: string;
          tags?: Array<string>;
          labels?: Array<string>;
          cost: number;
        }>,
        Name
      >;
      processAsk: FunctionReference<
        "mutation",
        "internal",
        {
          process: string;
          generation: number;
          share?: number;
          any: number;
          few: number;
        },
        number,
        Name
      >;
      processClose: FunctionReference<
        "mutation",
        "internal",
        { process: string; generation: number },
        {
          isClosed: boolean;
          handedOver?: {
            lanes: Array<{
              lane: string;
              generation: number;
              callSeq: number;
              lastAckedCall?: number;
              jobs: Array<{
                job: {
                  id: string;
                  queue: string;
                  payload: any;
                  attempt: number;
                  failures: number;
                  resets: number;
                  leaseMs: number;
                  timeoutMs?: number;
                  enqueuedAt: number;
                  name?: string;
                  priority?: number;
                  group?: string;
                  tags?: Array<string>;
                  labels?: Array<string>;
                  cost?: number;
                  rounds?: number;
                  traceparent?: string;
                  claimableAt?: number;
                  related?: any;
                };
                handler?: {
                  kind: "action" | "mutation" | "query" | "inline";
                  handle: string;
                  takes: "payload" | "job";
                };
              }>;
              lookAfterMs?: number;
              handOver?: string;
            }>;
            upTo: bigint;
            areWaiting: boolean;
            arePlaces?: boolean;
          };
        },
        Name
      >;
      processLook: FunctionReference<
        "query",
        "internal",
        { process: string; generation: number; upTo: bigint; share?: number },
        {
          lanes: Array<{
            lane: string;
            generation: number;
            callSeq: number;
            lastAckedCall?: number;
            jobs: Array<{
              job: {
                id: string;
                queue: string;
                payload: any;
                attempt: number;
                failures: number;
                resets: number;
                leaseMs: number;
                timeoutMs?: number;
                enqueuedAt: number;
                name?: string;
                priority?: number;
                group?: string;
                tags?: Array<string>;
                labels?: Array<string>;
                cost?: number;
                rounds?: number;
                traceparent?: string;
                claimableAt?: number;
                related?: any;
              };
              handler?: {
                kind: "action" | "mutation" | "query" | "inline";
                handle: string;
                takes: "payload" | "job";
              };
            }>;
            lookAfterMs?: number;
            handOver?: string;
          }>;
          upTo: bigint;
          areWaiting: boolean;
          arePlaces?: boolean;
        },
        Name
      >;
      processRouse: FunctionReference<
        "mutation",
        "internal",
        { from: { process: string; generation: number; givenBack?: number } },
        null,
        Name
      >;
      queueOf: FunctionReference<
        "query",
        "internal",
        { id: string },
        string | null,
        Name
      >;
      replace: FunctionReference<
        "mutation",
        "internal",
        {
          id: string;
          queue: {
            name: string;
            config: {
              leaseMs: number;
              graceMs?: number;
              maxResets: number;
              shards: number;
              retry?: {
                maxAttempts: number;
                initialBackoffMs: number;
                base: number;
                maxBackoffMs: number;
                jitter?: "full" | "equal" | "none";
              };
              timeoutMs?: number;
              expiresAfterMs?: number;
              deadlineMs?: number;
              circular?: boolean;
              restMs?: number;
              retention?: {
                succeededMs: number;
                failedMs: number;
                canceledMs: number;
                timedOutMs: number;
              };
              onComplete?: string;
              onCompleteExclude?: Array<
                "succeeded" | "failed" | "canceled" | "timedOut"
              >;
              logLevel?: "debug" | "info" | "warn" | "error";
              push?: boolean;
              handler?: {
                kind: "action" | "mutation" | "query" | "inline";
                handle: string;
                takes: "payload" | "job";
              };
              maxParallelism?: number;
              fallbackAfterMs?: number;
              handlerMissingAfterMs?: number;
              schedulerShare?: number;
              result?: string;
              listBy?: Array<"tag" | "group">;
            };
          };
          job: {
            payload: any;
            options?: {
              name?: string;
              priority?: number;
              runAt?: number;
              runAfter?: number;
              key?: {
                value: string;
                windowMs?: number;
                onConflict?: "existing" | "replace" | "refuse";
              };
              group?: string;
              tags?: Array<string>;
              labels?: Array<string>;
              prefer?: {
                labels?: Array<string>;
                worker?: string;
                forMs: number;
              };
              cost?: number;
              expiresAfterMs?: number;
              deadlineMs?: number;
              context?: any;
              traceparent?: string;
              rules?: {
                retry?: {
                  maxAttempts: number;
                  initialBackoffMs: number;
                  base: number;
                  maxBackoffMs: number;
                  jitter?: "full" | "equal" | "none";
                };
                maxResets?: number;
                leaseMs?: number;
                timeoutMs?: number;
                onComplete?: string;
                onCompleteExclude?: Array<
                  "succeeded" | "failed" | "canceled" | "timedOut"
                >;
                handler?: {
                  kind: "action" | "mutation" | "query" | "inline";
                  handle: string;
                  takes: "payload" | "job";
                };
              };
            };
          };
        },
        {
          replaced: boolean;
          id: string;
          status:
            | "scheduled"
            | "pending"
            | "running"
            | "succeeded"
            | "failed"
            | "canceled"
            | "timedOut";
        },
        Name
      >;
      report: FunctionReference<
        "mutation",
        "internal",
        {
          token: string;
          sessionKey: string;
          session?: string;
          updates?: Array<{
            id: string;
            attempt: number;
            value: any;
            revision?: number;
          }>;
          logs?: Array<{
            id: string;
            attempt: number;
            entry: number;
            level: "debug" | "info" | "warn" | "error";
            message: string;
            data?: any;
            revision?: number;
          }>;
          output?: Array<{
            id: string;
            attempt: number;
            index: number;
            text: string;
          }>;
        },
        {
          answers: Array<{
            id: string;
            attempt: number;
            answer: "ok" | "recorded" | "leaseLost" | "canceled";
            nextIndex?: number;
            outputFull?: true;
            logsDropped?: number;
          }>;
        },
        Name
      >;
      standby: FunctionReference<
        "query",
        "internal",
        { token: string; peers: string; since: number; worker?: string },
        boolean,
        Name
      >;
      status: FunctionReference<
        "query",
        "internal",
        { id: string; queue?: string },
        | {
            id: string;
            queue: string;
            enqueuedAt: number;
            attempt: number;
            failures: number;
            resets: number;
            releases?: number;
            name?: string;
            priority?: number;
            key?: string;
            group?: string;
            tags?: Array<string>;
            labels?: Array<string>;
            cost?: number;
            rounds?: number;
            lastWorkedAt?: number;
            paused?: boolean;
            cancelRequestedAt?: number;
            expiresAt?: number;
            deadlineAt?: number;
            lastError?: string;
            status: "pending";
          }
        | {
            id: string;
            queue: string;
            enqueuedAt: number;
            attempt: number;
            failures: number;
            resets: number;
            releases?: number;
            name?: string;
            priority?: number;
            key?: string;
            group?: string;
            tags?: Array<string>;
            labels?: Array<string>;
            cost?: number;
            rounds?: number;
            lastWorkedAt?: number;
            paused?: boolean;
            cancelRequestedAt?: number;
            expiresAt?: number;
            deadlineAt?: number;
            lastError?: string;
            status: "scheduled";
            dueAt: number;
          }
        | {
            id: string;
            queue: string;
            enqueuedAt: number;
            attempt: number;
            failures: number;
            resets: number;
            releases?: number;
            name?: string;
            priority?: number;
            key?: string;
            group?: string;
            tags?: Array<string>;
            labels?: Array<string>;
            cost?: number;
            rounds?: number;
            lastWorkedAt?: number;
            paused?: boolean;
            cancelRequestedAt?: number;
            expiresAt?: number;
            deadlineAt?: number;
            lastError?: string;
            status: "running";
            worker: string;
            startedAt: number;
            progress?: any;
          }
        | {
            id: string;
            queue: string;
            enqueuedAt: number;
            attempt: number;
            failures: number;
            resets: number;
            releases?: number;
            name?: string;
            priority?: number;
            key?: string;
            group?: string;
            tags?: Array<string>;
            labels?: Array<string>;
            cost?: number;
            rounds?: number;
            lastWorkedAt?: number;
            paused?: boolean;
            cancelRequestedAt?: number;
            expiresAt?: number;
            deadlineAt?: number;
            lastError?: string;
            status: "succeeded";
            worker: string;
            startedAt: number;
            finishedAt: number;
            result: any;
          }
        | {
            id: string;
            queue: string;
            enqueuedAt: number;
            attempt: number;
            failures: number;
            resets: number;
            releases?: number;
            name?: string;
            priority?: number;
            key?: string;
            group?: string;
            tags?: Array<string>;
            labels?: Array<string>;
            cost?: number;
            rounds?: number;
            lastWorkedAt?: number;
            paused?: boolean;
            cancelRequestedAt?: number;
            expiresAt?: number;
            deadlineAt?: number;
            lastError?: string;
            status: "failed";
            error: string;
            worker?: string;
            startedAt?: number;
            finishedAt: number;
          }
        | {
            id: string;
            queue: string;
            enqueuedAt: number;
            attempt: number;
            failures: number;
            resets: number;
            releases?: number;
            name?: string;
            priority?: number;
            key?: string;
            group?: string;
            tags?: Array<string>;
            labels?: Array<string>;
            cost?: number;
            rounds?: number;
            lastWorkedAt?: number;
            paused?: boolean;
            cancelRequestedAt?: number;
            expiresAt?: number;
            deadlineAt?: number;
            lastError?: string;
            status: "canceled";
            reason?: string;
            worker?: string;
            startedAt?: number;
            finishedAt: number;
          }
        | {
            id: string;
            queue: string;
            enqueuedAt: number;
            attempt: number;
            failures: number;
            resets: number;
            releases?: number;
            name?: string;
            priority?: number;
            key?: string;
            group?: string;
            tags?: Array<string>;
            labels?: Array<string>;
            cost?: number;
            rounds?: number;
            lastWorkedAt?: number;
            paused?: boolean;
            cancelRequestedAt?: number;
            expiresAt?: number;
            deadlineAt?: number;
            lastError?: string;
            status: "timedOut";
            error: string;
            code?: "deadlineExceeded";
            worker?: string;
            startedAt?: number;
            finishedAt: number;
          }
        | null,
        Name
      >;
      statusBatch: FunctionReference<
        "query",
        "internal",
        { ids: Array<string>; queue?: string },
        Array<
          | {
              id: string;
              queue: string;
              enqueuedAt: number;
              attempt: number;
              failures: number;
              resets: number;
              releases?: number;
              name?: string;
              priority?: number;
              key?: string;
              group?: string;
              tags?: Array<string>;
              labels?: Array<string>;
              cost?: number;
              rounds?: number;
              lastWorkedAt?: number;
              paused?: boolean;
              cancelRequestedAt?: number;
              expiresAt?: number;
              deadlineAt?: number;
              lastError?: string;
              status: "pending";
            }
          | {
              id: string;
              queue: string;
              enqueuedAt: number;
              attempt: number;
              failures: number;
              resets: number;
              releases?: number;
              name?: string;
              priority?: number;
              key?: string;
              group?: string;
              tags?: Array<string>;
              labels?: Array<string>;
              cost?: number;
              rounds?: number;
              lastWorkedAt?: number;
              paused?: boolean;
              cancelRequestedAt?: number;
              expiresAt?: number;
              deadlineAt?: number;
              lastError?: string;
              status: "scheduled";
              dueAt: number;
            }
          | {
              id: string;
              queue: string;
              enqueuedAt: number;
              attempt: number;
              failures: number;
              resets: number;
              releases?: number;
              name?: string;
              priority?: number;
              key?: string;
              group?: string;
              tags?: Array<string>;
              labels?: Array<string>;
              cost?: number;
              rounds?: number;
              lastWorkedAt?: number;
              paused?: boolean;
              cancelRequestedAt?: number;
              expiresAt?: number;
              deadlineAt?: number;
              lastError?: string;
              status: "running";
              worker: string;
              startedAt: number;
              progress?: any;
            }
          | {
              id: string;
              queue: string;
              enqueuedAt: number;
              attempt: number;
              failures: number;
              resets: number;
              releases?: number;
              name?: string;
              priority?: number;
              key?: string;
              group?: string;
              tags?: Array<string>;
              labels?: Array<string>;
              cost?: number;
              rounds?: number;
              lastWorkedAt?: number;
              paused?: boolean;
              cancelRequestedAt?: number;
              expiresAt?: number;
              deadlineAt?: number;
              lastError?: string;
              status: "succeeded";
              worker: string;
              startedAt: number;
              finishedAt: number;
              result: any;
            }
          | {
              id: string;
              queue: string;
              enqueuedAt: number;
              attempt: number;
              failures: number;
              resets: number;
              releases?: number;
              name?: string;
              priority?: number;
              key?: string;
              group?: string;
              tags?: Array<string>;
              labels?: Array<string>;
              cost?: number;
              rounds?: number;
              lastWorkedAt?: number;
              paused?: boolean;
              cancelRequestedAt?: number;
              expiresAt?: number;
              deadlineAt?: number;
              lastError?: string;
              status: "failed";
              error: string;
              worker?: string;
              startedAt?: number;
              finishedAt: number;
            }
          | {
              id: string;
              queue: string;
              enqueuedAt: number;
              attempt: number;
              failures: number;
              resets: number;
              releases?: number;
              name?: string;
              priority?: number;
              key?: string;
              group?: string;
              tags?: Array<string>;
              labels?: Array<string>;
              cost?: number;
              rounds?: number;
              lastWorkedAt?: number;
              paused?: boolean;
              cancelRequestedAt?: number;
              expiresAt?: number;
              deadlineAt?: number;
              lastError?: string;
              status: "canceled";
              reason?: string;
              worker?: string;
              startedAt?: number;
              finishedAt: number;
            }
          | {
              id: string;
              queue: string;
              enqueuedAt: number;
              attempt: number;
              failures: number;
              resets: number;
              releases?: number;
              name?: string;
              priority?: number;
              key?: string;
              group?: string;
              tags?: Array<string>;
              labels?: Array<string>;
              cost?: number;
              rounds?: number;
              lastWorkedAt?: number;
              paused?: boolean;
              cancelRequestedAt?: number;
              expiresAt?: number;
              deadlineAt?: number;
              lastError?: string;
              status: "timedOut";
              error: string;
              code?: "deadlineExceeded";
              worker?: string;
              startedAt?: number;
              finishedAt: number;
            }
          | null
        >,
        Name
      >;
      takeBack: FunctionReference<
        "mutation",
        "internal",
        {
          token: string;
          sessionKey: string;
          finished: Array<{
            id: string;
            attempt: number;
            outcome:
              | { kind: "succeeded"; result?: any }
              | {
                  kind: "failed";
                  error: string;
                  trace?: string;
                  retryable?: boolean;
                  retryAfterMs?: number;
                  timedOut?: boolean;
                }
              | { kind: "released" }
              | {
                  kind: "snoozed";
                  runAfter: number;
                  blocked?: "handlerMissing" | "noPermit";
                  error?: string;
                }
              | { kind: "canceled" };
            fits?: Array<string>;
            continued?: Array<{
              queue: {
                name: string;
                config: {
                  leaseMs: number;
                  graceMs?: number;
                  maxResets: number;
                  shards: number;
                  retry?: {
                    maxAttempts: number;
                    initialBackoffMs: number;
                    base: number;
                    maxBackoffMs: number;
                    jitter?: "full" | "equal" | "none";
                  };
                  timeoutMs?: number;
                  expiresAfterMs?: number;
                  deadlineMs?: number;
                  circular?: boolean;
                  restMs?: number;
                  retention?: {
                    succeededMs: number;
                    failedMs: number;
                    canceledMs: number;
                    timedOutMs: number;
                  };
                  onComplete?: string;
                  onCompleteExclude?: Array<
                    "succeeded" | "failed" | "canceled" | "timedOut"
                  >;
                  logLevel?: "debug" | "info" | "warn" | "error";
                  push?: boolean;
                  handler?: {
                    kind: "action" | "mutation" | "query" | "inline";
                    handle: string;
                    takes: "payload" | "job";
                  };
                  maxParallelism?: number;
                  fallbackAfterMs?: number;
                  handlerMissingAfterMs?: number;
                  schedulerShare?: number;
                  result?: string;
                  listBy?: Array<"tag" | "group">;
                };
              };
              jobs: Array<{
                payload: any;
                options?: {
                  name?: string;
                  priority?: number;
                  runAt?: number;
                  runAfter?: number;
                  key?: {
                    value: string;
                    windowMs?: number;
                    onConflict?: "existing" | "replace" | "refuse";
                  };
                  group?: string;
                  tags?: Array<string>;
                  labels?: Array<string>;
                  prefer?: {
                    labels?: Array<string>;
                    worker?: string;
                    forMs: number;
                  };
                  cost?: number;
                  expiresAfterMs?: number;
                  deadlineMs?: number;
                  context?: any;
                  traceparent?: string;
                  rules?: {
                    retry?: {
                      maxAttempts: number;
                      initialBackoffMs: number;
                      base: number;
                      maxBackoffMs: number;
                      jitter?: "full" | "equal" | "none";
                    };
                    maxResets?: number;
                    leaseMs?: number;
                    timeoutMs?: number;
                    onComplete?: string;
                    onCompleteExclude?: Array<
                      "succeeded" | "failed" | "canceled" | "timedOut"
                    >;
                    handler?: {
                      kind: "action" | "mutation" | "query" | "inline";
                      handle: string;
                      takes: "payload" | "job";
                    };
                  };
                };
              }>;
            }>;
          }>;
        },
        {
          answers: Array<{
            id: string;
            attempt: number;
            answer: "ok" | "recorded" | "leaseLost" | "canceled";
          }>;
        },
        Name
      >;
      tend: FunctionReference<
        "mutation",
        "internal",
        { queues: Array<string> },
        { isLate: boolean },
        Name
      >;
      watch: FunctionReference<"mutation", "internal", {}, null, Name>;
      workers: FunctionReference<
        "query",
        "internal",
        { queue?: string; limit?: number },
        Array<{
          id: string;
          session: string;
          name: string;
          isLane: boolean;
          state: "starting" | "waiting" | "working" | "draining" | "stopped";
          since?: number;
          quietBy?: "worker" | "operator";
          lastSeenAt: number;
          queues: Array<string>;
          labels?: Array<string>;
          slots?: { used: number; had: number };
          done?: number;
          origin?: {
            startedAt: number;
            version: string;
            appVersion?: string;
            hostname?: string;
            pid?: number;
          };
          holding: Array<{
            id: string;
            queue: string;
            attempt: number;
            name?: string;
            startedAt?: number;
          }>;
        }>,
        Name
      >;
    };
    observe: {
      byKey: FunctionReference<
        "query",
        "internal",
        { queue: string; key: string },
        {
          id: string;
          queue: string;
          status:
            | "scheduled"
            | "pending"
            | "running"
            | "succeeded"
            | "failed"
            | "canceled"
            | "timedOut";
          enqueuedAt: number;
          attempt: number;
          failures: number;
          dueAt?: number;
          startedAt?: number;
          finishedAt?: number;
          worker?: string;
          error?: string;
          name?: string;
          key?: string;
          priority?: number;
          group?: string;
          tags?: Array<string>;
          labels?: Array<string>;
          paused?: boolean;
          cancelRequestedAt?: number;
        } | null,
        Name
      >;
      gauge: FunctionReference<
        "query",
        "internal",
        { queue: string },
        {
          at: number;
          counts: {
            scheduled: { count: number; more: boolean; retrying?: number };
            pending: { count: number; more: boolean };
            running: { count: number; more: boolean };
            succeeded: { count: number; more: boolean };
            failed: { count: number; more: boolean };
            canceled: { count: number; more: boolean };
            timedOut: { count: number; more: boolean };
          };
          oldestPendingAt?: number;
          perMinute: { enqueued: number; finished: number; failed: number };
          health: {
            light: "green" | "yellow" | "red";
            reason: string;
            worsens: Array<{
              at: number;
              light: "green" | "yellow" | "red";
              reason: string;
            }>;
            of: number;
            successRate: number;
            ran: number;
            averageMs: number;
          };
        },
        Name
      >;
      health: FunctionReference<
        "query",
        "internal",
        { queue: string; last?: number },
        {
          light: "green" | "yellow" | "red";
          reason: string;
          worsens: Array<{
            at: number;
            light: "green" | "yellow" | "red";
            reason: string;
          }>;
          of: number;
          successRate: number;
          ran: number;
          averageMs: number;
        },
        Name
      >;
      list: FunctionReference<
        "query",
        "internal",
        {
          queue: string;
          filter?: {
            status?:
              | "scheduled"
              | "pending"
              | "running"
              | "succeeded"
              | "failed"
              | "canceled"
              | "timedOut";
            tag?: string;
            group?: string;
            name?: string;
            worker?: string;
            retrying?: boolean;
          };
          order?: "next" | "newest";
          paginationOpts: {
            numItems: number;
            cursor: string | null;
            endCursor?: string | null;
            id?: number;
            maximumRowsRead?: number;
            maximumBytesRead?: number;
          };
        },
        {
          page: Array<{
            id: string;
            queue: string;
            status:
              | "scheduled"
              | "pending"
              | "running"
              | "succeeded"
              | "failed"
              | "canceled"
              | "timedOut";
            enqueuedAt: number;
            attempt: number;
            failures: number;
            dueAt?: number;
            startedAt?: number;
            finishedAt?: number;
            worker?: string;
            error?: string;
            name?: string;
            key?: string;
            priority?: number;
            group?: string;
            tags?: Array<string>;
            labels?: Array<string>;
            paused?: boolean;
            cancelRequestedAt?: number;
          }>;
          isDone: boolean;
          continueCursor: string;
          splitCursor?: string | null;
          pageStatus?: "SplitRecommended" | "SplitRequired" | null;
        },
        Name
      >;
      mainLoop: FunctionReference<
        "query",
        "internal",
        { share?: number },
        {
          status: "idle" | "running" | "waiting" | "stalled";
          generation: number;
          next?: { kind: string; queue?: string; dueAt: number };
          slots: number;
          places: { used: number; left: number };
          lanes: { awake: number; jobs: number; more: boolean };
          queues: Array<{
            queue: string;
            lanes: number;
            jobs: number;
            isWaiting: boolean;
          }>;
          processes: Array<{
            slot: number;
            generation: number;
            openedAt: number;
            endsAt: number;
            isReceiving: boolean;
            isInline: boolean;
            hasEnded: boolean;
            places: number;
          }>;
          waiting: Array<string>;
        },
        Name
      >;
      metrics: FunctionReference<
        "query",
        "internal",
        { queue: string },
        {
          isPaused: boolean;
          isDraining: boolean;
          gauge: {
            at: number;
            counts: {
              scheduled: { count: number; more: boolean; retrying?: number };
              pending: { count: number; more: boolean };
              running: { count: number; more: boolean };
              succeeded: { count: number; more: boolean };
              failed: { count: number; more: boolean };
              canceled: { count: number; more: boolean };
              timedOut: { count: number; more: boolean };
            };
            oldestPendingAt?: number;
            perMinute: { enqueued: number; finished: number; failed: number };
            health: {
              light: "green" | "yellow" | "red";
              reason: string;
              worsens: Array<{
                at: number;
                light: "green" | "yellow" | "red";
                reason: string;
              }>;
              of: number;
              successRate: number;
              ran: number;
              averageMs: number;
            };
          };
          totals: {
            enqueued: number;
            succeeded: number;
            failed: number;
            canceled: number;
            timedOut: number;
            waitMs: Array<number>;
            runMs: Array<number>;
            waitSumMs: number;
            runSumMs: number;
          };
        } | null,
        Name
      >;
      overview: FunctionReference<
        "query",
        "internal",
        { queue: string; beside?: number },
        {
          state: {
            name: string;
            declared: {
              leaseMs: number;
              graceMs?: number;
              maxResets: number;
              shards: number;
              retry?: {
                maxAttempts: number;
                initialBackoffMs: number;
                base: number;
                maxBackoffMs: number;
                jitter?: "full" | "equal" | "none";
              };
              timeoutMs?: number;
              expiresAfterMs?: number;
              deadlineMs?: number;
              circular?: boolean;
              restMs?: number;
              retention?: {
                succeededMs: number;
                failedMs: number;
                canceledMs: number;
                timedOutMs: number;
              };
              onComplete?: string;
              onCompleteExclude?: Array<
                "succeeded" | "failed" | "canceled" | "timedOut"
              >;
              logLevel?: "debug" | "info" | "warn" | "error";
              push?: boolean;
              handler?: {
                kind: "action" | "mutation" | "query" | "inline";
                handle: string;
                takes: "payload" | "job";
              };
              maxParallelism?: number;
              fallbackAfterMs?: number;
              handlerMissingAfterMs?: number;
              schedulerShare?: number;
              result?: string;
              listBy?: Array<"tag" | "group">;
            };
            declaredAt: number;
            overrides: {
              leaseMs?: number;
              graceMs?: number;
              maxResets?: number;
              shards?: number;
              retry?: {
                maxAttempts: number;
                initialBackoffMs: number;
                base: number;
                maxBackoffMs: number;
                jitter?: "full" | "equal" | "none";
              };
              timeoutMs?: number;
              expiresAfterMs?: number;
              deadlineMs?: number;
              restMs?: number;
              retention?: {
                succeededMs: number;
                failedMs: number;
                canceledMs: number;
                timedOutMs: number;
              };
              logLevel?: "debug" | "info" | "warn" | "error";
              maxParallelism?: number;
              fallbackAfterMs?: number;
              handlerMissingAfterMs?: number;
            };
            inForce: {
              leaseMs: number;
              graceMs?: number;
              maxResets: number;
              shards: number;
              retry?: {
                maxAttempts: number;
                initialBackoffMs: number;
                base: number;
                maxBackoffMs: number;
                jitter?: "full" | "equal" | "none";
              };
              timeoutMs?: number;
              expiresAfterMs?: number;
              deadlineMs?: number;
              circular?: boolean;
              restMs?: number;
              retention?: {
                succeededMs: number;
                failedMs: number;
                canceledMs: number;
                timedOutMs: number;
              };
              onComplete?: string;
              onCompleteExclude?: Array<
                "succeeded" | "failed" | "canceled" | "timedOut"
              >;
              logLevel?: "debug" | "info" | "warn" | "error";
              push?: boolean;
              handler?: {
                kind: "action" | "mutation" | "query" | "inline";
                handle: string;
                takes: "payload" | "job";
              };
              maxParallelism?: number;
              fallbackAfterMs?: number;
              handlerMissingAfterMs?: number;
              schedulerShare?: number;
              result?: string;
              listBy?: Array<"tag" | "group">;
            };
            sources: Record<string, "override" | "code" | "default">;
            pausedAt?: number;
            drainingAt?: number;
            drained?: boolean;
          };
          isPush: boolean;
          gauge: {
            at: number;
            counts: {
              scheduled: { count: number; more: boolean; retrying?: number };
              pending: { count: number; more: boolean };
              running: { count: number; more: boolean };
              succeeded: { count: number; more: boolean };
              failed: { count: number; more: boolean };
              canceled: { count: number; more: boolean };
              timedOut: { count: number; more: boolean };
            };
            oldestPendingAt?: number;
            perMinute: { enqueued: number; finished: number; failed: number };
            health: {
              light: "green" | "yellow" | "red";
              reason: string;
              worsens: Array<{
                at: number;
                light: "green" | "yellow" | "red";
                reason: string;
              }>;
              of: number;
              successRate: number;
              ran: number;
              averageMs: number;
            };
          };
          recent: Array<{
            at: number;
            enqueued: number;
            started: number;
            succeeded: number;
            failed: number;
            canceled: number;
            timedOut: number;
            waitMs: { p50: number; p95: number; p99: number } | null;
            runMs: { p50: number; p95: number; p99: number } | null;
          }>;
        } | null,
        Name
      >;
      payload: FunctionReference<
        "query",
        "internal",
        { id: string; queue?: string },
        { payload: any } | null,
        Name
      >;
      position: FunctionReference<
        "query",
        "internal",
        { id: string; queue?: string },
        { ahead: number; more: boolean; startsAt?: number } | null,
        Name
      >;
      queues: FunctionReference<
        "query",
        "internal",
        { after?: string; limit?: number },
        { names: Array<string>; more: boolean },
        Name
      >;
      stats: FunctionReference<
        "query",
        "internal",
        {
          queue: string;
          per?: "minute" | "hour" | "day";
          count?: number;
          until?: number;
        },
        {
          per: "minute" | "hour" | "day";
          periods: Array<{
            at: number;
            enqueued: number;
            started: number;
            succeeded: number;
            failed: number;
            canceled: number;
            timedOut: number;
            waitMs: { p50: number; p95: number; p99: number } | null;
            runMs: { p50: number; p95: number; p99: number } | null;
          }>;
        },
        Name
      >;
      why: FunctionReference<
        "query",
        "internal",
        { id: string; queue?: string; withErrors?: boolean },
        {
          status:
            | "scheduled"
            | "pending"
            | "running"
            | "succeeded"
            | "failed"
            | "canceled"
            | "timedOut";
          reasons: Array<{
            kind:
              | "ended"
              | "running"
              | "cancelRequested"
              | "expired"
              | "scheduled"
              | "backingOff"
              | "handlerMissing"
              | "noPermit"
              | "handlerMismatch"
              | "paused"
              | "queuePaused"
              | "noWorker"
              | "noWorkerWithLabels"
              | "preferred"
              | "atCapacity"
              | "behind"
              | "next"
              | "stuck";
            text: string;
            remedy: string;
            until?: number;
          }>;
        } | null,
        Name
      >;
    };
    operate: {
      cancelJob: FunctionReference<
        "mutation",
        "internal",
        { id: string; queue?: string; reason?: string },
        {
          canceled: boolean;
          requested: boolean;
          status:
            | "scheduled"
            | "pending"
            | "running"
            | "succeeded"
            | "failed"
            | "canceled"
            | "timedOut";
        },
        Name
      >;
      cancelMany: FunctionReference<
        "mutation",
        "internal",
        {
          queue: string;
          filter: {
            statuses?: Array<
              | "scheduled"
              | "pending"
              | "running"
              | "succeeded"
              | "failed"
              | "canceled"
              | "timedOut"
            >;
            priority?: number;
            tags?: Array<string>;
            group?: string;
            name?: string;
            labels?: Array<string>;
            enqueuedBefore?: number;
            finishedBefore?: number;
          };
          reason?: string;
          cursor?: string;
          limit?: number;
          goOn?: boolean;
        },
        { changed: number; isDone: boolean; cursor?: string; task?: string },
        Name
      >;
      configureQueue: FunctionReference<
        "mutation",
        "internal",
        {
          queue: string;
          overrides: {
            leaseMs?: number;
            graceMs?: number;
            maxResets?: number;
            shards?: number;
            retry?: {
              maxAttempts: number;
              initialBackoffMs: number;
              base: number;
              maxBackoffMs: number;
              jitter?: "full" | "equal" | "none";
            };
            timeoutMs?: number;
            expiresAfterMs?: number;
            deadlineMs?: number;
            restMs?: number;
            retention?: {
              succeededMs: number;
              failedMs: number;
              canceledMs: number;
              timedOutMs: number;
            };
            logLevel?: "debug" | "info" | "warn" | "error";
            maxParallelism?: number;
            fallbackAfterMs?: number;
            handlerMissingAfterMs?: number;
          };
          declared?: {
            name: string;
            config: {
              leaseMs: number;
              graceMs?: number;
              maxResets: number;
              shards: number;
              retry?: {
                maxAttempts: number;
                initialBackoffMs: number;
                base: number;
                maxBackoffMs: number;
                jitter?: "full" | "equal" | "none";
              };
              timeoutMs?: number;
              expiresAfterMs?: number;
              deadlineMs?: number;
              circular?: boolean;
              restMs?: number;
              retention?: {
                succeededMs: number;
                failedMs: number;
                canceledMs: number;
                timedOutMs: number;
              };
              onComplete?: string;
              onCompleteExclude?: Array<
                "succeeded" | "failed" | "canceled" | "timedOut"
              >;
              logLevel?: "debug" | "info" | "warn" | "error";
              push?: boolean;
              handler?: {
                kind: "action" | "mutation" | "query" | "inline";
                handle: string;
                takes: "payload" | "job";
              };
              maxParallelism?: number;
              fallbackAfterMs?: number;
              handlerMissingAfterMs?: number;
              schedulerShare?: number;
              result?: string;
              listBy?: Array<"tag" | "group">;
            };
          };
        },
        { changed: boolean },
        Name
      >;
      createToken: FunctionReference<
        "mutation",
        "internal",
        {
          name: string;
          queues?: Array<string> | null;
          groups?: Array<string> | { prefix: string } | "byQuery" | null;
          deployment?: string;
        },
        { id: string; token: string },
        Name
      >;
      deleteJob: FunctionReference<
        "mutation",
        "internal",
        { id: string; queue?: string },
        {
          deleted: boolean;
          status:
            | "scheduled"
            | "pending"
            | "running"
            | "succeeded"
            | "failed"
            | "canceled"
            | "timedOut"
            | null;
        },
        Name
      >;
      deleteMany: FunctionReference<
        "mutation",
        "internal",
        {
          queue: string;
          filter: {
            statuses?: Array<
              | "scheduled"
              | "pending"
              | "running"
              | "succeeded"
              | "failed"
              | "canceled"
              | "timedOut"
            >;
            priority?: number;
            tags?: Array<string>;
            group?: string;
            name?: string;
            labels?: Array<string>;
            enqueuedBefore?: number;
            finishedBefore?: number;
          };
          reason?: string;
          cursor?: string;
          limit?: number;
          goOn?: boolean;
        },
        { changed: number; isDone: boolean; cursor?: string; task?: string },
        Name
      >;
      drainQueue: FunctionReference<
        "mutation",
        "internal",
        {
          queue: string;
          declared?: {
            name: string;
            config: {
              leaseMs: number;
              graceMs?: number;
              maxResets: number;
              shards: number;
              retry?: {
                maxAttempts: number;
                initialBackoffMs: number;
                base: number;
                maxBackoffMs: number;
                jitter?: "full" | "equal" | "none";
              };
              timeoutMs?: number;
              expiresAfterMs?: number;
              deadlineMs?: number;
              circular?: boolean;
              restMs?: number;
              retention?: {
                succeededMs: number;
                failedMs: number;
                canceledMs: number;
                timedOutMs: number;
              };
              onComplete?: string;
              onCompleteExclude?: Array<
                "succeeded" | "failed" | "canceled" | "timedOut"
              >;
              logLevel?: "debug" | "info" | "warn" | "error";
              push?: boolean;
              handler?: {
                kind: "action" | "mutation" | "query" | "inline";
                handle: string;
                takes: "payload" | "job";
              };
              maxParallelism?: number;
              fallbackAfterMs?: number;
              handlerMissingAfterMs?: number;
              schedulerShare?: number;
              result?: string;
              listBy?: Array<"tag" | "group">;
            };
          };
        },
        { changed: boolean },
        Name
      >;
      events: FunctionReference<
        "query",
        "internal",
        { queue?: string; limit?: number },
        Array<{
          kind: string;
          queue?: string;
          at: number;
          message: string;
          details?: any;
        }>,
        Name
      >;
      listTokens: FunctionReference<
        "query",
        "internal",
        { after?: string },
        Array<{
          id: string;
          name: string;
          queues: Array<string> | null;
          groups: Array<string> | { prefix: string } | "byQuery" | null;
          createdAt: number;
          rotatedAt?: number;
          previousUntil?: number;
          revokedAt?: number;
          overQuotaUntil?: number;
        }>,
        Name
      >;
      pauseJob: FunctionReference<
        "mutation",
        "internal",
        { id: string; queue?: string },
        {
          changed: boolean;
          paused: boolean;
          status:
            | "scheduled"
            | "pending"
            | "running"
            | "succeeded"
            | "failed"
            | "canceled"
            | "timedOut";
        },
        Name
      >;
      pauseQueue: FunctionReference<
        "mutation",
        "internal",
        {
          queue: string;
          declared?: {
            name: string;
            config: {
              leaseMs: number;
              graceMs?: number;
              maxResets: number;
              shards: number;
              retry?: {
                maxAttempts: number;
                initialBackoffMs: number;
                base: number;
                maxBackoffMs: number;
                jitter?: "full" | "equal" | "none";
              };
              timeoutMs?: number;
              expiresAfterMs?: number;
              deadlineMs?: number;
              circular?: boolean;
              restMs?: number;
              retention?: {
                succeededMs: number;
                failedMs: number;
                canceledMs: number;
                timedOutMs: number;
              };
              onComplete?: string;
              onCompleteExclude?: Array<
                "succeeded" | "failed" | "canceled" | "timedOut"
              >;
              logLevel?: "debug" | "info" | "warn" | "error";
              push?: boolean;
              handler?: {
                kind: "action" | "mutation" | "query" | "inline";
                handle: string;
                takes: "payload" | "job";
              };
              maxParallelism?: number;
              fallbackAfterMs?: number;
              handlerMissingAfterMs?: number;
              schedulerShare?: number;
              result?: string;
              listBy?: Array<"tag" | "group">;
            };
          };
        },
        { changed: boolean },
        Name
      >;
      queueState: FunctionReference<
        "query",
        "internal",
        { queue: string },
        {
          name: string;
          declared: {
            leaseMs: number;
            graceMs?: number;
            maxResets: number;
            shards: number;
            retry?: {
              maxAttempts: number;
              initialBackoffMs: number;
              base: number;
              maxBackoffMs: number;
              jitter?: "full" | "equal" | "none";
            };
            timeoutMs?: number;
            expiresAfterMs?: number;
            deadlineMs?: number;
            circular?: boolean;
            restMs?: number;
            retention?: {
              succeededMs: number;
              failedMs: number;
              canceledMs: number;
              timedOutMs: number;
            };
            onComplete?: string;
            onCompleteExclude?: Array<
              "succeeded" | "failed" | "canceled" | "timedOut"
            >;
            logLevel?: "debug" | "info" | "warn" | "error";
            push?: boolean;
            handler?: {
              kind: "action" | "mutation" | "query" | "inline";
              handle: string;
              takes: "payload" | "job";
            };
            maxParallelism?: number;
            fallbackAfterMs?: number;
            handlerMissingAfterMs?: number;
            schedulerShare?: number;
            result?: string;
            listBy?: Array<"tag" | "group">;
          };
          declaredAt: number;
          overrides: {
            leaseMs?: number;
            graceMs?: number;
            maxResets?: number;
            shards?: number;
            retry?: {
              maxAttempts: number;
              initialBackoffMs: number;
              base: number;
              maxBackoffMs: number;
              jitter?: "full" | "equal" | "none";
            };
            timeoutMs?: number;
            expiresAfterMs?: number;
            deadlineMs?: number;
            restMs?: number;
            retention?: {
              succeededMs: number;
              failedMs: number;
              canceledMs: number;
              timedOutMs: number;
            };
            logLevel?: "debug" | "info" | "warn" | "error";
            maxParallelism?: number;
            fallbackAfterMs?: number;
            handlerMissingAfterMs?: number;
          };
          inForce: {
            leaseMs: number;
            graceMs?: number;
            maxResets: number;
            shards: number;
            retry?: {
              maxAttempts: number;
              initialBackoffMs: number;
              base: number;
              maxBackoffMs: number;
              jitter?: "full" | "equal" | "none";
            };
            timeoutMs?: number;
            expiresAfterMs?: number;
            deadlineMs?: number;
            circular?: boolean;
            restMs?: number;
            retention?: {
              succeededMs: number;
              failedMs: number;
              canceledMs: number;
              timedOutMs: number;
            };
            onComplete?: string;
            onCompleteExclude?: Array<
              "succeeded" | "failed" | "canceled" | "timedOut"
            >;
            logLevel?: "debug" | "info" | "warn" | "error";
            push?: boolean;
            handler?: {
              kind: "action" | "mutation" | "query" | "inline";
              handle: string;
              takes: "payload" | "job";
            };
            maxParallelism?: number;
            fallbackAfterMs?: number;
            handlerMissingAfterMs?: number;
            schedulerShare?: number;
            result?: string;
            listBy?: Array<"tag" | "group">;
          };
          sources: Record<string, "override" | "code" | "default">;
          pausedAt?: number;
          drainingAt?: number;
          drained?: boolean;
        },
        Name
      >;
      quietWorker: FunctionReference<
        "mutation",
        "internal",
        { id: string },
        { changed: boolean },
        Name
      >;
      resetConfig: FunctionReference<
        "mutation",
        "internal",
        {
          queue: string;
          fields?: Array<string>;
          declared?: {
            name: string;
            config: {
              leaseMs: number;
              graceMs?: number;
              maxResets: number;
              shards: number;
              retry?: {
                maxAttempts: number;
                initialBackoffMs: number;
                base: number;
                maxBackoffMs: number;
                jitter?: "full" | "equal" | "none";
              };
              timeoutMs?: number;
              expiresAfterMs?: number;
              deadlineMs?: number;
              circular?: boolean;
              restMs?: number;
              retention?: {
                succeededMs: number;
                failedMs: number;
                canceledMs: number;
                timedOutMs: number;
              };
              onComplete?: string;
              onCompleteExclude?: Array<
                "succeeded" | "failed" | "canceled" | "timedOut"
              >;
              logLevel?: "debug" | "info" | "warn" | "error";
              push?: boolean;
              handler?: {
                kind: "action" | "mutation" | "query" | "inline";
                handle: string;
                takes: "payload" | "job";
              };
              maxParallelism?: number;
              fallbackAfterMs?: number;
              handlerMissingAfterMs?: number;
              schedulerShare?: number;
              result?: string;
              listBy?: Array<"tag" | "group">;
            };
          };
        },
        { changed: boolean },
        Name
      >;
      resumeJob: FunctionReference<
        "mutation",
        "internal",
        { id: string; queue?: string },
        {
          changed: boolean;
          paused: boolean;
          status:
            | "scheduled"
            | "pending"
            | "running"
            | "succeeded"
            | "failed"
            | "canceled"
            | "timedOut";
        },
        Name
      >;
      resumeQueue: FunctionReference<
        "mutation",
        "internal",
        {
          queue: string;
          declared?: {
            name: string;
            config: {
              leaseMs: number;
              graceMs?: number;
              maxResets: number;
              shards: number;
              retry?: {
                maxAttempts: number;
                initialBackoffMs: number;
                base: number;
                maxBackoffMs: number;
                jitter?: "full" | "equal" | "none";
              };
              timeoutMs?: number;
              expiresAfterMs?: number;
              deadlineMs?: number;
              circular?: boolean;
              restMs?: number;
              retention?: {
                succeededMs: number;
                failedMs: number;
                canceledMs: number;
                timedOutMs: number;
              };
              onComplete?: string;
              onCompleteExclude?: Array<
                "succeeded" | "failed" | "canceled" | "timedOut"
              >;
              logLevel?: "debug" | "info" | "warn" | "error";
              push?: boolean;
              handler?: {
                kind: "action" | "mutation" | "query" | "inline";
                handle: string;
                takes: "payload" | "job";
              };
              maxParallelism?: number;
              fallbackAfterMs?: number;
              handlerMissingAfterMs?: number;
              schedulerShare?: number;
              result?: string;
              listBy?: Array<"tag" | "group">;
            };
          };
        },
        { changed: boolean },
        Name
      >;
      resumeWorker: FunctionReference<
        "mutation",
        "internal",
        { id: string },
        { changed: boolean },
        Name
      >;
      retryJob: FunctionReference<
        "mutation",
        "internal",
        { id: string; queue?: string },
        {
          retried: boolean;
          status:
            | "scheduled"
            | "pending"
            | "running"
            | "succeeded"
            | "failed"
            | "canceled"
            | "timedOut";
          keyTakenBy?: string;
        },
        Name
      >;
      retryMany: FunctionReference<
        "mutation",
        "internal",
        {
          queue: string;
          filter: {
            statuses?: Array<
              | "scheduled"
              | "pending"
              | "running"
              | "succeeded"
              | "failed"
              | "canceled"
              | "timedOut"
            >;
            priority?: number;
            tags?: Array<string>;
            group?: string;
            name?: string;
            labels?: Array<string>;
            enqueuedBefore?: number;
            finishedBefore?: number;
          };
          reason?: string;
          cursor?: string;
          limit?: number;
          goOn?: boolean;
        },
        { changed: number; isDone: boolean; cursor?: string; task?: string },
        Name
      >;
      revokeToken: FunctionReference<
        "mutation",
        "internal",
        { id: string },
        null,
        Name
      >;
      rotateToken: FunctionReference<
        "mutation",
        "internal",
        { id: string; graceMs?: number; deployment?: string },
        { token: string },
        Name
      >;
      stopTask: FunctionReference<
        "mutation",
        "internal",
        { queue: string; task: string },
        { stopped: boolean },
        Name
      >;
      taskState: FunctionReference<
        "query",
        "internal",
        { queue: string; task: string },
        {
          queue: string;
          action: "cancel" | "retry" | "delete";
          state: "running" | "done" | "stopped";
          changed: number;
          failed: number;
          startedAt: number;
        } | null,
        Name
      >;
    };
    tables: {
      advance: FunctionReference<
        "mutation",
        "internal",
        { queue: string; turn: number; cursor?: any },
        null,
        Name
      >;
      announce: FunctionReference<
        "mutation",
        "internal",
        { queue: string },
        null,
        Name
      >;
      loop: FunctionReference<
        "query",
        "internal",
        { queue: string },
        { turn: number; cursor?: any },
        Name
      >;
      wanted: FunctionReference<
        "query",
        "internal",
        { token: string; queue: string; groups?: Array<string> },
        { announced: boolean } | null,
        Name
      >;
    };
    workpool: {
      cancel: FunctionReference<
        "mutation",
        "internal",
        { id: string },
        null,
        Name
      >;
      cancelAll: FunctionReference<
        "mutation",
        "internal",
        { limit?: number },
        null,
        Name
      >;
      statusBatch: FunctionReference<
        "query",
        "internal",
        { ids: Array<string> },
        Array<
          | { state: "pending"; previousAttempts: number }
          | { state: "running"; previousAttempts: number }
          | { state: "finished" }
        >,
        Name
      >;
    };
  };
