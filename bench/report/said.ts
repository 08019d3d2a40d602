/** How lines and figures are called and written. */
import { ALTERNATIVES } from "../alternatives.js";
import type { Line } from "../lines.js";

export function labelOf({ of, window, varied, settings }: Line): string {
  const tried = settings.tried === undefined ? "" : `, ${settings.parallelism} at once`;
  const what = varied === undefined ? "" : `, ${varied.constant} × ${varied.by}`;
  return `${ALTERNATIVES[of].label}${tried}${window === undefined ? "" : `, ${window}`}${what}`;
}

/** Two digits where it is small. */
export function short(figure: number): string {
  if (!Number.isFinite(figure)) return "—";
  return figure.toFixed(figure < 10 ? 2 : 0);
}
