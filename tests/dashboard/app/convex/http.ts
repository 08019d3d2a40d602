/** The metrics for a monitoring system. */
import { bearerToken } from "convex-conveyor";
import { httpRouter } from "convex/server";
import { conveyor } from "./queues.js";

const http = httpRouter();
http.route({
  path: "/metrics",
  method: "GET",
  handler: conveyor.metrics({ authorize: bearerToken("METRICS_TOKEN") }),
});

export default http;
