/** What charts draw, out of the periods that statistics have. Pure. */
import type { Per, Percentiles, Period } from "../../shared/index.js";
import { dayOf, duration, several } from "../words.js";
import type { Spark } from "./Sparkline.js";

/** Of a period: everything that ended in it. */
export const finishedIn = ({ succeeded, failed, canceled, timedOut }: Period) =>
  succeeded + failed + canceled + timedOut;

export const flowSparks = (periods: readonly Period[]): Spark[] =>
  periods.map((period) => ({ at: period.at, value: finishedIn(period) }));

export const waitSparks = (periods: readonly Period[]): Spark[] =>
  periods.map(({ at, waitMs }) => ({ at, value: waitMs?.p95 ?? null }));

/** "1,204 jobs ended in the last 30 minutes, at most 80 in one." */
export function flowWords(periods: readonly Period[]): string {
  const counts = periods.map(finishedIn);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const over = several(periods.length, "minute");
  if (total === 0) return `Nothing ended in the last ${over}.`;
  return `${several(total, "job")} ended in the last ${over}, at most ${Math.max(...counts)} in one.`;
}

/** "95 of 100 waited less than 1.2 s in the last minute that had any, and less than 4 s in the worst." */
export function waitWords(periods: readonly Period[]): string {
  const waits = periods.flatMap(({ waitMs }) => (waitMs === null ? [] : [waitMs.p95]));
  if (waits.length === 0) return "Nothing waited.";
  const [last, worst] = [duration(waits.at(-1)!), duration(Math.max(...waits))];
  return `95 of 100 jobs waited less than ${last} in the last minute that had any, and less than ${worst} in the worst.`;
}

/** The last one that is known. */
export function latest(periods: readonly Period[], of: "waitMs" | "runMs"): Percentiles | null {
  return periods.findLast((period) => period[of] !== null)?.[of] ?? null;
}

/** On the axis: "03:12", "03:00", "21 Nov". */
export function tickOf(at: number, per: Per): string {
  if (per === "day") return dayOf(at);
  return new Date(at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
}

/** In a table and beside the pointer: "21 Nov, 03:12". */
export function titleOf(at: number, per: Per): string {
  return per === "day" ? dayOf(at) : `${dayOf(at)}, ${tickOf(at, per)}`;
}
