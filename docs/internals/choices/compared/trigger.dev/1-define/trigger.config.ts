import { defineConfig } from "@trigger.dev/sdk";

export default defineConfig({ project: "proj_1", dirs: ["./trigger"], maxDuration: 300 });
