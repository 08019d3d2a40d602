/** The lane: the loop that runs jobs inside Convex, in the component's own action or in one of the app's. */
export * from "./apart.js";
export * from "./batches.js";
export * from "./blameless.js";
export * from "./handlers.js";
export * from "./inline.js";
export * from "./inTransaction.js";
export * from "./loop.js";
export * from "./process.js";
export type { Attempt } from "../worker/attempts.js";
export type { Report } from "../worker/transport.js";
