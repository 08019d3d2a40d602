/** A workpool bounds one queue, so that there are several. */
import workpool from "@convex-dev/workpool/convex.config.js";
import conveyor from "convex-conveyor/convex.config.js";
import { defineApp } from "convex/server";
import { MOUNTS } from "./mounts.js";

const app = defineApp();
app.use(conveyor);
for (let i = 0; i < MOUNTS; i++) app.use(workpool, { name: `workpool${i}` });

export default app;
