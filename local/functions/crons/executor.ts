/** The executor of crons: apart from that of scheduled functions, so that neither takes the other's places. */
import { DueLoop } from "../dueLoop.js";
import type { RunAction } from "../scheduledRuns.js";
import type { Services } from "../scope.js";
import { runCron } from "./runs.js";
import { CRON_NEXT_RUN, NEXT_RUN_INDEX, type NextRunRow } from "./table.js";

export function startCronExecutor(services: Services, runAction: RunAction): DueLoop<NextRunRow> {
  const { options, events } = services;
  return new DueLoop(services, {
    table: CRON_NEXT_RUN,
    index: NEXT_RUN_INDEX,
    parallelism: options.limits.scheduledJobs,
    onStart: (lateMs) => events.waited("executor", lateMs),
    run: (namespace, next) => runCron(services, runAction, namespace, next),
  });
}
