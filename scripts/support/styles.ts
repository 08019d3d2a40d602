/** The dashboard's styles, one file from the source's files: apps import `convex-conveyor/dashboard.css`. */
import path from "node:path";
import { buildSync } from "esbuild";
import { root } from "../../tests/support/paths.js";

export function buildStyles(): void {
  buildSync({
    entryPoints: [path.join(root, "src/dashboard/styles/index.css")],
    outfile: path.join(root, "dist/dashboard.css"),
    bundle: true,
    logLevel: "warning",
  });
}
