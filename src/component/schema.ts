/**
 * The component's tables, in four files by their purpose. Every index costs bytes with every write of its table, so
 * there are as few as can be.
 */
import { defineSchema } from "convex/server";
import { jobTables } from "./rows/tables/jobs.js";
import { pushTables } from "./rows/tables/push.js";
import { upkeepTables } from "./rows/tables/upkeep.js";
import { workerTables } from "./rows/tables/workers.js";

export default defineSchema({ ...jobTables, ...workerTables, ...pushTables, ...upkeepTables });
