/** One cron, which runs when it is pushed for the first time and then too seldom to disturb a case. */
import { cronJobs } from "convex/server";
import { internal } from "./_generated/api.js";

const crons = cronJobs();

crons.interval("beat", { hours: 24 }, internal.jobs.beat, { group: "beats" });

export default crons;
