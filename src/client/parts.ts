/** The parts of the package's other entry points, besides the queue itself: see `src/workpool`. */
export { sendAll } from "./batches.js";
export type { ComponentApi } from "./componentApi.js";
export { callComponent, callDeclaring, checkComponent } from "./mounted.js";
export type { RunsMutations, RunsQueries } from "./types.js";
