/**
 * The functions of the dashboard's page. Every caller may read and change: pictures of numbers need no protection, and
 * `npm start` serves this machine alone. An app with users checks the caller:
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
