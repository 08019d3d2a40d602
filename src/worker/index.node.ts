/**
 * `convex-conveyor/worker` for Node, Bun and Deno, which the package's export conditions choose: the same exports, with
 * the host's name and signals.
 * @module
 */
import { hostname } from "node:os";
import { NAME_MAX_LENGTH } from "../shared/index.js";
import type { Host } from "./host.js";
import { nodeLoad } from "./load.js";
import type { WorkerOptions } from "./options.js";
import { poolLink } from "./pooled.js";
import { onStopSignal } from "./signals.js";
import type { WorkerApi } from "./types.js";
import { Worker as AnyWorker } from "./worker.js";

/** Workers of this process without a name of their own: retries go to workers of other names. */
let unnamed = 0;

const nodeHost: Host = {
  name: () => {
    unnamed += 1;
    const which = unnamed === 1 ? "" : `:${unnamed}`;
    return `${hostname()}:${process.pid}${which}`.slice(-NAME_MAX_LENGTH);
  },
  onStopSignal,
  load: nodeLoad(),
  hostname: hostname().slice(-NAME_MAX_LENGTH),
  pid: process.pid,
};

class NodeWorker<Api extends WorkerApi> extends AnyWorker<Api> {
  constructor(options: WorkerOptions<Api>) {
    const pool = poolLink();
    // In a process of a pool, the pool names and stops it.
    super(
      pool === undefined
        ? options
        : { ...options, name: pool.nameOf(options.name), handleSignals: false },
    );
    pool?.register(this);
  }

  protected override get host(): Host {
    return nodeHost;
  }
}

export * from "./index.js";
export { NodeWorker as Worker };
