/**
 * The public functions of the dashboard, one that reads and one that writes: for pages about all queues of an app. The
 * operation stands in the call. Each asks the app's `authorize` before it reads or changes anything. An id from the internet may
 * name a job of another queue than the one that `authorize` was asked about: such a job counts as none.
 *
 * The deployment's metrics count both functions as one each; so the operation is in the data of errors and in lines of the log.
 */
import { mutationGeneric, queryGeneric, type GenericDataModel } from "convex/server";
import {
  conveyorError,
  dashboardReadArgs,
  dashboardWriteArgs,
  errorText,
  isConveyorError,
  logLine,
  type DashboardCall,
  type DashboardRead,
  type DashboardWrite,
} from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { writersOf } from "./dashboardActions.js";
import { jobReaders } from "./dashboardJobs.js";
import { checkAllowed, type GivenOptions } from "./dashboardLeave.js";
import type { DashboardApiOptions, DashboardFunctions, Reader, Writer } from "./dashboardTypes.js";
import { viewReaders } from "./dashboardViews.js";
import type { AuthorizeCtx } from "./types.js";

/** Builds the functions of {@link Conveyor.dashboardApi}. */
export function dashboardFunctions<DataModel extends GenericDataModel>(
  component: ComponentApi,
  given: DashboardApiOptions<DataModel>,
  mount: { schedulerShare?: number } = {},
): DashboardFunctions {
  // Untyped code may leave out anything, also all of it: then every call is refused.
  const options: GivenOptions = given;
  const readers: Record<string, Reader<any>> = {
    ...viewReaders(component, options, mount),
    ...jobReaders(component, options),
  };
  const writers: Record<string, Writer<any>> = writersOf(component);
  return {
    read: queryGeneric({
      args: dashboardReadArgs,
      handler: async (ctx, { call, paginationOpts }) =>
        await perform(options, ctx, { ...call, changes: false }, () =>
          readers[call.kind]!(ctx, call, paginationOpts),
        ),
    }),
    write: mutationGeneric({
      args: dashboardWriteArgs,
      handler: async (ctx, { call }) => {
        const done = await perform(options, ctx, { ...call, changes: true }, () =>
          writers[call.kind]!(ctx, call),
        );
        console.info(logLine("info", "dashboardWrote", about(call)));
        return done;
      },
    }),
  };
}

type Asked = (DashboardRead & { changes: false }) | (DashboardWrite & { changes: true });

/** Asks, then does. An error is logged with its operation, and has it in its data if it is an error of Conveyor's. */
async function perform(
  options: GivenOptions,
  ctx: AuthorizeCtx<any>,
  call: Asked,
  run: () => Promise<unknown>,
): Promise<unknown> {
  try {
    await checkAllowed(options, ctx, askedOf(call));
    return await run();
  } catch (error) {
    console.warn(logLine("warn", "dashboardFailed", { ...about(call), error: errorText(error) }));
    if (!isConveyorError(error)) throw error;
    const { code, message, ...details } = error.data;
    throw conveyorError(code, message, { ...details, kind: call.kind });
  }
}

/** The call as `authorize` receives it: the operation and its subject, and none of the options of its view. */
function askedOf(call: Asked): DashboardCall {
  const { kind, changes } = call;
  return {
    ...{ kind, changes },
    ...("queue" in call ? { queue: call.queue } : {}),
    ...("id" in call ? { id: call.id } : {}),
    ...(call.changes && "filter" in call ? { filter: call.filter } : {}),
  } as DashboardCall;
}

/** Cut: names and ids come from outside. */
function about(call: DashboardRead | DashboardWrite) {
  return {
    call: call.kind,
    queue: "queue" in call ? call.queue?.slice(0, 100) : undefined,
    job: "queue" in call && "id" in call ? call.id.slice(0, 100) : undefined,
    worker: !("queue" in call) && "id" in call ? call.id.slice(0, 100) : undefined,
  };
}
