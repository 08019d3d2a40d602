/** All that component, client, worker and hooks share: pure values, types and arithmetic. */
export * from "./backoff.js";
export * from "./checkConfig.js";
export * from "./checkJobs.js";
export * from "./checks.js";
export * from "./errors.js";
export * from "./limits.js";
export * from "./order.js";
export * from "./protocol.js";
export * from "./reports.js";
export * from "./retry.js";
export * from "./routes.js";
export * from "./segments.js";
export * from "./shards.js";
export * from "./status.js";
export * from "./typed.js";
export * from "./values.js";
