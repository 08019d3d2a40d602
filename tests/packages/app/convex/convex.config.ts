/** Mounts the official components as their documentation says, one of them twice and one with an environment. */
import actionRetrier from "@convex-dev/action-retrier/convex.config.js";
import aggregate from "@convex-dev/aggregate/convex.config.js";
import batchWorker from "@convex-dev/batch-worker/convex.config.js";
import crons from "@convex-dev/crons/convex.config.js";
import rateLimiter from "@convex-dev/rate-limiter/convex.config.js";
import workflow from "@convex-dev/workflow/convex.config.js";
import workpool from "@convex-dev/workpool/convex.config.js";
import conveyor from "convex-conveyor/convex.config.js";
import { defineApp } from "convex/server";
import mailer from "../mailer/convex.config.js";

const app = defineApp();
app.use(actionRetrier);
app.use(aggregate);
app.use(aggregate, { name: "aggregateByGame" });
app.use(batchWorker, { env: { LOG_LEVEL: "REPORT" } });
app.use(crons);
app.use(rateLimiter);
app.use(workflow);
app.use(workpool, { name: "narrowPool" });
// `theirs.ts` and `ours.ts` are the same code.
app.use(workpool, { name: "theirs" });
app.use(workpool, { name: "theirsTuned" });
app.use(conveyor, { name: "ours" });
app.use(conveyor, { name: "oursTuned" });
app.use(mailer);

export default app;
