/** The lane: the loop that runs jobs inside Convex, in the component's own action or in one of the app's. */
export * from "./apart.js";
export * from "./blameless.js";
export * from "./handlers.js";
export * from "./inline.js";
export * from "./loop.js";
export * from "./process.js";
