/** The app that the conformance cases call: one child component, mounted twice with environments of their own. */
import { defineApp } from "convex/server";
import child from "../child/convex.config.js";

const app = defineApp();
app.use(child, { env: { COLOR: "green" } });
app.use(child, { name: "second" });

export default app;
