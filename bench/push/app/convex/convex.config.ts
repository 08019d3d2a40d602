import workpool from "@convex-dev/workpool/convex.config.js";
import conveyor from "convex-conveyor/convex.config.js";
import { defineApp } from "convex/server";

const app = defineApp();
app.use(conveyor);
app.use(workpool);

export default app;
