/**
 * What the dashboard's page calls. Open to everybody who finds the deployment, for sight and for deeds: there is nobody to
 * protect pictures of numbers from, and `npm start` serves this machine alone. An app with users asks who calls:
 *
 *   authorize: async (ctx) => (await ctx.auth.getUserIdentity())?.["role"] === "admin",
 */
import { conveyor } from "./queue/farm.js";

export const { read, write } = conveyor.dashboardApi({
  authorize: "public",
  // Pixels tell people nothing.
  show: (_ctx, { queue, kind, value }) =>
    queue === "tiles" && kind === "result" ? sizeOf(value) : value,
});

function sizeOf(result: unknown): unknown {
  const { rgb, preview, ...rest } = result as { rgb: ArrayBuffer; preview: ArrayBuffer };
  return { ...rest, rgb: `${rgb.byteLength} bytes`, preview: `${preview.byteLength} bytes` };
}
