/** The queues about which pages may ask, and the leave for it: every function of `conveyor.api` goes through here. */
import { conveyorError } from "../shared/index.js";
import type { ApiCall } from "./apiTypes.js";
import type { ComponentApi } from "./componentApi.js";
import type { Served } from "./served.js";
import type { AnyQueue, AuthorizeCtx } from "./types.js";

export interface Api {
  readonly component: ComponentApi;
  readonly served: Served;
  /** Throws unless the app's `authorize` answers true. */
  readonly ask: (ctx: AuthorizeCtx<any>, call: ApiCall) => Promise<void>;
}

/** The queue of this name. The error for an unknown one names no other queue: any page may call. */
export function findQueue(served: Served, name: string): AnyQueue {
  const queue = served.get(name);
  if (queue !== undefined) return queue;
  const cut = name.slice(0, 100);
  throw conveyorError(
    "unknownQueue",
    `Pages may not ask about the queue "${cut}" here. ` +
      "Add it to `conveyor.api({ queues: […] })`, or correct the name.",
    { queue: cut },
  );
}
