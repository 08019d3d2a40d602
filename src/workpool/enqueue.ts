/** Puts work into a pool: one call of the component for as many jobs as fit into one. */
import type {
  DefaultFunctionArgs,
  FunctionReference,
  FunctionType,
  FunctionVisibility,
} from "convex/server";
import type { NewJob } from "../shared/index.js";
import { callDeclaring, sendAll, type ComponentApi, type RunsMutations } from "../client/parts.js";
import type { WorkOptions } from "./options.js";
import { declarationOf, jobOptions } from "./work.js";
import type { WorkId } from "./validators.js";

type Fn<Type extends FunctionType, Args extends DefaultFunctionArgs, Returns> = FunctionReference<
  Type,
  FunctionVisibility,
  Args,
  NoInfer<Returns>
>;

/** Enqueues one piece of work; the common part of {@link Workpool.enqueueAction} and its siblings. */
export async function enqueue<
  Type extends FunctionType,
  Args extends DefaultFunctionArgs,
  Returns,
  Context,
>(
  component: ComponentApi,
  ctx: RunsMutations,
  fnType: Type,
  fn: Fn<Type, Args, Returns>,
  fnArgs: Args,
  options: WorkOptions<Context, Returns>,
): Promise<WorkId> {
  const [id] = await enqueueBatch(component, ctx, fnType, fn, [fnArgs], options);
  return id!;
}

/** Enqueues a piece of work for each of these arguments. */
export async function enqueueBatch<
  Type extends FunctionType,
  Args extends DefaultFunctionArgs,
  Returns,
  Context,
>(
  component: ComponentApi,
  ctx: RunsMutations,
  fnType: Type,
  fn: Fn<Type, Args, Returns>,
  fnArgsArray: Args[],
  options: WorkOptions<Context, Returns>,
): Promise<WorkId[]> {
  if (fnArgsArray.length === 0) return [];
  const queue = declarationOf(options);
  const shared = await jobOptions(fnType, fn, options, Date.now());
  const jobs = fnArgsArray.map((payload): NewJob => ({ payload, options: shared }));
  const enqueued = await sendAll(ctx, jobs, {
    expire: false,
    send: (part) =>
      callDeclaring(ctx, component, [queue], () =>
        ctx.runMutation(component.lib.enqueue, { queue, jobs: part }),
      ),
  });
  return enqueued.map(({ id }) => id as WorkId);
}
