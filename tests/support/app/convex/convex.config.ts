import conveyor from "convex-conveyor/convex.config.js";
import { defineApp } from "convex/server";

const app = defineApp();
app.use(conveyor);

export default app;
