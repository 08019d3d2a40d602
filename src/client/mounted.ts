/**
 * Calls into the component, with a plain message for the newcomer's first slip: the component is imported but not
 * mounted. Every call of `src/client` goes through here.
 */
import { getFunctionAddress } from "convex/server";
import { conveyorError, isConveyorError, kindOf, type QueueDeclaration } from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import type { RunsMutations } from "./types.js";

/** The messages of the platform, and of `convex-test`, for a component that the app does not have. */
const NOT_MOUNTED = /Child component .* not found|Component ".*" is not registered/;

const HOW_TO_MOUNT =
  'Add `import conveyor from "convex-conveyor/convex.config.js"` and `app.use(conveyor)` to convex/convex.config.ts, ' +
  "and let `npx convex dev` push it. In a convex-test suite, call `register(t)` from `convex-conveyor/test`.";

/** Refuses `undefined`, which `components.conveyor` is under a wrong name in untyped code. */
export function checkComponent(component: ComponentApi | undefined): asserts component {
  if (component !== undefined) return;
  throw conveyorError(
    "componentNotMounted",
    `new Conveyor(…) must be given the mounted component, as in \`new Conveyor(components.conveyor)\`; got undefined. ${HOW_TO_MOUNT}`,
  );
}

/** Refuses a queue of another mount of the component: its jobs are there, and no call of this one finds them. */
export function checkMount(
  component: ComponentApi,
  queue: { name: string; component: ComponentApi },
  instead: string,
): void {
  if (isOfMount(component, queue)) return;
  throw conveyorError(
    "invalidArgument",
    `The queue "${queue.name}" is of another mount of the component than this. ${instead}`,
    { argument: "queue", queue: queue.name },
  );
}

/** Whether the queue is of this mount, as far as can be told. */
export function isOfMount(
  component: ComponentApi,
  queue: { name: string; component: ComponentApi },
): boolean {
  const [own, other] = [mountOf(component), mountOf(queue.component)];
  return own === other || own === undefined || other === undefined;
}

/** The path of a function in it, as the app's references have it; each reference is another object. */
function mountOf(component: ComponentApi): string | undefined {
  try {
    return getFunctionAddress(component.lib.enqueue).reference;
  } catch {
    return undefined;
  }
}

/** Runs one call into the component. Errors of the component pass as they are. */
export async function callComponent<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    if (isConveyorError(error) || !(error instanceof Error) || !NOT_MOUNTED.test(error.message)) {
      throw error;
    }
    throw conveyorError(
      "componentNotMounted",
      `This deployment does not have Conveyor's component. ${HOW_TO_MOUNT}`,
      { platform: error.message },
    );
  }
}

/**
 * Runs a call that names these queues. Where the component does not know them as they are declared, it refuses the call with
 * nothing written; they are then declared, and the call is repeated: within a mutation, in one transaction.
 */
export async function callDeclaring<Result>(
  ctx: RunsMutations,
  component: ComponentApi,
  declarations: readonly QueueDeclaration[],
  call: () => Promise<Result>,
): Promise<Result> {
  try {
    return await callComponent(call);
  } catch (error) {
    if (!isConveyorError(error, "queuesUndeclared")) throw error;
    const names = error.data["queues"] as string[];
    const queues = declarations.filter(({ name }) => names.includes(name));
    await callComponent(() => ctx.runMutation(component.lib.declare, { queues }));
    return await callComponent(call);
  }
}

/** Refuses a context that cannot change jobs: none at all, which is a slip in code without types, or a query's. */
export function checkWrites(ctx: unknown, queue: string): void {
  const has = (method: string) =>
    typeof (ctx as Record<string, unknown> | null | undefined)?.[method] === "function";
  if (has("runMutation")) return;
  throw conveyorError(
    "invalidArgument",
    has("runQuery")
      ? `A query changes nothing, so it cannot change jobs of the queue "${queue}". Make this function a mutation or an action.`
      : `The first argument must be the \`ctx\` of a mutation or an action; got ${kindOf(ctx)}. ` +
          "Write `enqueue(ctx, payload)`, and `ctx` first in every other call of a queue.",
    { argument: "ctx", queue },
  );
}
