/** The output of a worker without `onEvent`: its start, the log entries of its handlers, and problems. */
import type { WorkerEvent } from "./events.js";
import type { LogLevel } from "./types.js";

export function printEvent(event: WorkerEvent): void {
  const line = lineOf(event);
  if (line === null) return;
  console[levelOf(event)](`[conveyor] ${line}`);
}

function levelOf(event: WorkerEvent): LogLevel {
  if (event.kind === "log") return event.level;
  return event.kind === "started" || event.kind === "stopping" ? "info" : "warn";
}

function lineOf(event: WorkerEvent): string | null {
  switch (event.kind) {
    case "started":
      return `${event.name} serves ${event.queues.join(", ")}`;
    case "queuesNotServed":
      return (
        `the token names queues that the deployment's functions do not serve: ${event.queues.join(", ")}; ` +
        "correct the token's queues, or `queues` of `workerApi`"
      );
    case "stopping":
      return `stopping; jobs in hand have up to ${event.graceMs} ms`;
    case "log":
      return `${about(event)}: ${event.message}`;
    case "finished":
      if (event.error === undefined) return null;
      return [`${about(event)} failed: ${event.error}`, event.trace].filter(Boolean).join("\n");
    case "leaseLost":
      return `${about(event)} is no longer ours: ${event.reason}`;
    case "aborted":
      return `${about(event)} gets its signal to stop: ${event.reason}`;
    case "resultRefused":
      return `${about(event)}: the result was refused: ${event.error}`;
    case "reportRefused":
      return `${about(event)}: ${event.logs} log entries and ${event.output} characters of output are lost: ${event.error}`;
    case "handlerAbandoned":
      return `${about(event)}: the handler ignores its signal; its slot goes to another job`;
    case "backPressure":
      return event.by === null ? "claims again" : `claims nothing: ${event.by} is at its limit`;
    case "quiet":
      if (event.by === "worker") return null;
      return event.isQuiet ? "claims nothing: an operator has it quiet" : "claims again";
    case "hookFailed":
      return `${event.hook === "afterJob" ? `${about(event)}: ` : ""}${event.hook} threw: ${event.error}`;
    case "callRepeated":
      return `${event.call} was not answered (${event.error}); trying again`;
    case "callRejected":
      return `${event.call} was refused: ${event.error}`;
    case "stopped":
      return event.unrecorded === 0 ? null : `stopped with ${event.unrecorded} outcomes unrecorded`;
    default:
      return null;
  }
}

function about(job: { id: string; queue: string; attempt: number }): string {
  return `${job.queue} ${job.id} (attempt ${job.attempt})`;
}
