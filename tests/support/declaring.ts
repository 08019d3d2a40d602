/** Calls of the component as the app's wrapper makes them: queues that are to be declared first are, and the call is made again. */
import { callDeclaring } from "../../src/client/mounted.js";
import type { ComponentApi, RunsMutations } from "../../src/client/parts.js";
import type { QueueDeclaration } from "../../src/shared/index.js";

/** `declare` calls the component's `lib.declare`. */
export async function declaring<Result>(
  args: object,
  declare: (args: { queues: QueueDeclaration[] }) => Promise<unknown>,
  call: () => Promise<Result>,
): Promise<Result> {
  const ctx = { runMutation: (_: unknown, given: never) => declare(given) } as RunsMutations;
  const component = { lib: {} } as ComponentApi;
  return await callDeclaring(ctx, component, declarationsIn(args), call);
}

/** The declarations with which `enqueue`, `replace`, `claim` or `complete` is called. */
export function declarationsIn(args: object): QueueDeclaration[] {
  const { queue, queues, claim } = args as {
    queue?: QueueDeclaration;
    queues?: QueueDeclaration[] | null;
    claim?: { queues: QueueDeclaration[] };
  };
  return [queue ?? [], queues ?? [], claim?.queues ?? []].flat();
}
