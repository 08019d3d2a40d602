/** The queues that some functions serve, by name. */
import { conveyorError } from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { checkMount } from "./mounted.js";
import type { AnyQueue } from "./types.js";

export type Served = ReadonlyMap<string, AnyQueue>;

/** `list` says in the error where they were listed, as in "The queues of workerApi". */
export function servedQueues(
  component: ComponentApi,
  list: string,
  queues: readonly AnyQueue[],
): Served {
  const served = new Map<string, AnyQueue>();
  for (const queue of queues) {
    checkMount(
      component,
      queue,
      `${list} are of one mount: list it with the \`Conveyor\` that defines it.`,
    );
    if (served.has(queue.name)) {
      throw conveyorError(
        "invalidArgument",
        `${list} name "${queue.name}" twice. List each queue once.`,
        { queue: queue.name },
      );
    }
    served.set(queue.name, queue);
  }
  return served;
}
