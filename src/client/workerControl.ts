/** Operating one worker: has it claim nothing for a while. It keeps no state. */
import type { ComponentApi } from "./componentApi.js";
import { callComponent } from "./mounted.js";
import type { RunsMutations } from "./types.js";

/** Which workers a list has: see {@link Conveyor.workers}. */
export interface WorkersOptions {
  queue?: string;
  limit?: number;
}

/** The operations on one worker. Made by {@link Conveyor.worker}. */
export class WorkerControl {
  /** @internal Use {@link Conveyor.worker}. */
  constructor(
    private readonly component: ComponentApi,
    private readonly id: string,
  ) {}

  /**
   * The worker claims nothing more, until {@link resume}. It counts at once: no claim that commits later takes a job. Jobs
   * in hand go on, with their leases. The worker learns of it with its next call, and of the end over its subscription.
   *
   * @returns `changed` is false if it was so already.
   * @throws `unknownWorker` for an id that names no worker, or a lane: pause its queue. `componentNotMounted`.
   * @example
   * await conveyor.worker(id).quiet(ctx);
   */
  async quiet(ctx: RunsMutations): Promise<{ changed: boolean }> {
    const { component, id } = this;
    return await callComponent(() => ctx.runMutation(component.operate.quietWorker, { id }));
  }

  /**
   * The worker claims again. One that its own program has made quiet stays so.
   *
   * @throws `unknownWorker`, `componentNotMounted`.
   * @example
   * await conveyor.worker(id).resume(ctx);
   */
  async resume(ctx: RunsMutations): Promise<{ changed: boolean }> {
    const { component, id } = this;
    return await callComponent(() => ctx.runMutation(component.operate.resumeWorker, { id }));
  }
}
