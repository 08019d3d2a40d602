/** One cron, which runs when it is pushed for the first time and then so seldom that it is in nobody's way. */
import { cronJobs } from "convex/server";
import { internal } from "./_generated/api.js";

const crons = cronJobs();

crons.interval("beat", { hours: 24 }, internal.jobs.beat, { group: "beats" });

export default crons;
