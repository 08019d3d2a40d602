import { defineApp } from "convex/server";
import conveyor from "convex-conveyor/convex.config.js";

const app = defineApp();
app.use(conveyor);
export default app;
