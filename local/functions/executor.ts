/**
 * The executor of scheduled functions: one for the whole deployment. An action keeps its place for as long as it runs,
 * and a mutation also while it waits for a retry.
 */
import { DueLoop } from "./dueLoop.js";
import { Retention } from "./retention.js";
import { DUE_INDEX, SCHEDULED_TABLE, type ScheduledRow } from "./scheduledTable.js";
import { runScheduled, type RunAction } from "./scheduledRuns.js";
import type { Services } from "./scope.js";

export interface Executor {
  /** How many functions run. */
  readonly running: number;
  /** Other code is deployed: namespaces may have come or gone. */
  look(): void;
  /** Starts nothing more. Resolves when all runs have ended. */
  stop(): Promise<void>;
}

export function startExecutor(services: Services, runAction: RunAction): Executor {
  const { options, events } = services;
  const retention = new Retention(services);
  const loop = new DueLoop<ScheduledRow & { due: number }>(services, {
    table: SCHEDULED_TABLE,
    index: DUE_INDEX,
    parallelism: options.limits.scheduledJobs,
    onStart: (lateMs) => events.waited("executor", lateMs),
    async run(namespace, row) {
      await services.env.spend({ kind: "dispatch" });
      await runScheduled(services, runAction, namespace, row);
      retention.sweep(namespace);
    },
  });
  return {
    get running() {
      return loop.running;
    },
    look: () => loop.look(),
    async stop() {
      await loop.stop();
      await retention.stop();
    },
  };
}
