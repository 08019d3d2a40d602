/**
 * `npm start`: the whole render farm with one command. Each step is a file of `start/`; this one has their order, and
 * ensures that nothing is left running.
 */
import { onStopSignal } from "../local/stopSignals.js";
import { Children } from "./start/children.js";
import { startFarm } from "./start/farm.js";
import { readStartOptions, START_USAGE, type StartOptions } from "./start/options.js";
import { serve } from "./start/serve.js";
import { fail, say } from "./start/steps.js";

/** As shells have it for a program that Ctrl-C ended before it had done its work. */
const INTERRUPTED = 130;

async function main(options: StartOptions): Promise<number> {
  const children = new Children();
  try {
    return await Promise.race([work(children, options), stopRequested(children, options)]);
  } finally {
    await children.stopAll();
  }
}

async function work(children: Children, options: StartOptions): Promise<number> {
  const farm = await startFarm(children, options);
  if (!options.once) return await serve(farm);
  // It imports the package, which the farm's start has built.
  const { renderOnce } = await import("./start/once/renderOnce.js");
  return await renderOnce(farm);
}

/** Resolves at the first Ctrl-C, with the exit code. The second one ends it without waiting. */
function stopRequested(children: Children, options: StartOptions): Promise<number> {
  return new Promise((resolve) => {
    onStopSignal(() => {
      if (children.isStopping) {
        children.killAll();
        process.exit(INTERRUPTED);
      }
      say("\nStopping: workers finish or give back their tiles first. Ctrl-C again stops at once.");
      children.refuseMore();
      resolve(options.once ? INTERRUPTED : 0);
    });
  });
}

let code = 1;
try {
  const options = readStartOptions(process.argv.slice(2));
  if (options === null) say(START_USAGE);
  code = options === null ? 0 : await main(options);
} catch (error) {
  fail(error);
}
// Not by running dry: an interrupted step may still wait for a backend that is gone.
process.exit(code);
