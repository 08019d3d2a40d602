/**
 * A worker's first call: whether its deployment has the functions and version that it needs. So a worker that was
 * started before its deployment was deployed says so before it takes a job, and names both versions.
 */
import { COMPONENT_VERSION, WORKER_PROTOCOL, type Hello } from "../shared/index.js";
import type { Calls, CallEnd } from "./calls.js";
import { workerApiMissing } from "./errors.js";
import type { Transport } from "./transport.js";
import type { WorkerEvent } from "./events.js";

/** Answered, if the worker may go on. A deployment out of reach is asked until it answers, or the worker gives up. */
export async function greet(
  { transport, emit }: { transport: Pick<Transport, "hello">; emit: (event: WorkerEvent) => void },
  calls: Pick<Calls, "ask">,
): Promise<CallEnd<unknown>> {
  const end = await calls.ask("hello", () => transport.hello());
  if (end.kind !== "answered") return end;
  const { protocol, notServed = [] } = end.reply;
  if (protocol < WORKER_PROTOCOL) return { kind: "fatal", error: tooOld(end.reply) };
  if (notServed.length > 0) emit({ kind: "queuesNotServed", queues: notServed });
  return end;
}

function tooOld({ protocol, version }: Hello): Error {
  return workerApiMissing(
    `The deployment's worker functions are of convex-conveyor ${version} (protocol ${protocol}), and this worker, of ` +
      `${COMPONENT_VERSION}, needs protocol ${WORKER_PROTOCOL}. Deploy the app's functions with convex-conveyor ` +
      `${COMPONENT_VERSION} or later first, then start its workers; until then, run workers of ${version}.`,
    { deployed: version, worker: COMPONENT_VERSION },
  );
}
