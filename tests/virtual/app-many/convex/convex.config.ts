/** Mounts the component twice. A test that needs one mount leaves the second alone. */
import conveyor from "convex-conveyor/convex.config.js";
import { defineApp } from "convex/server";

const app = defineApp();
app.use(conveyor);
app.use(conveyor, { name: "conveyorB" });

export default app;
