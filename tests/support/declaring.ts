/** Calls of the component as the app's wrapper makes them: queues that are to be declared first are, and the call is made again. */
import { isConveyorError, type QueueDeclaration } from "../../src/shared/index.js";

/** `declare` calls the component's `lib.declare`. */
export async function declaring<Result>(
  args: object,
  declare: (args: { queues: QueueDeclaration[] }) => Promise<unknown>,
  call: () => Promise<Result>,
): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    if (!isConveyorError(error, "queuesUndeclared")) throw error;
    const names = error.data["queues"] as string[];
    await declare({ queues: declarationsIn(args).filter(({ name }) => names.includes(name)) });
    return await call();
  }
}

/** The declarations with which `enqueue`, `replace`, `claim` or `complete` is called. */
export function declarationsIn(args: object): QueueDeclaration[] {
  const {
    queue,
    queues = [],
    claim,
  } = args as {
    queue?: QueueDeclaration;
    queues?: QueueDeclaration[];
    claim?: { queues: QueueDeclaration[] };
  };
  return [...(queue === undefined ? [] : [queue]), ...queues, ...(claim?.queues ?? [])];
}
