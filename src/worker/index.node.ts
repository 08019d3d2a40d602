/**
 * `convex-conveyor/worker` for Node, Bun and Deno, which the package's export conditions choose: the same exports, with
 * the host's name and signals.
 * @module
 */
import { hostname } from "node:os";
import { NAME_MAX_LENGTH } from "../shared/index.js";
import type { Host } from "./host.js";
import { nodeLoad } from "./load.js";
import { onStopSignal } from "./signals.js";
import type { WorkerApi } from "./types.js";
import { Worker as AnyWorker } from "./worker.js";

const nodeHost: Host = {
  name: () => `${hostname()}:${process.pid}`.slice(-NAME_MAX_LENGTH),
  onStopSignal,
  load: nodeLoad(),
};

class NodeWorker<Api extends WorkerApi> extends AnyWorker<Api> {
  protected override get host(): Host {
    return nodeHost;
  }
}

export * from "./index.js";
export { NodeWorker as Worker };
