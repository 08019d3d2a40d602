/** The series that charts draw, out of the periods of statistics. Pure. */
import {
  emptyPeriod,
  PERIOD_MS,
  type Per,
  type Percentiles,
  type Period,
} from "../../shared/index.js";
import { dayOf, utcDayOf } from "../words.js";
import type { Spark } from "./Sparkline.js";

/** The jobs that finished in a period. */
export const finishedIn = ({ succeeded, failed, canceled, timedOut }: Period) =>
  succeeded + failed + canceled + timedOut;

export const flowSparks = (periods: readonly Period[]): Spark[] =>
  periods.map((period) => ({ at: period.at, value: finishedIn(period) }));

export const waitSparks = (periods: readonly Period[]): Spark[] =>
  periods.map(({ at, waitMs }) => ({ at, value: waitMs?.p95 ?? null }));

/** The latest one with data. */
export function latest(periods: readonly Period[], of: "waitMs" | "runMs"): Percentiles | null {
  return periods.findLast((period) => period[of] !== null)?.[of] ?? null;
}

/** The last minutes as they are so many minutes later, where nothing has happened since. */
export function minutesLater(minutes: readonly Period[], count: number): readonly Period[] {
  return minutes.map(
    ({ at }, n) => minutes[n + count] ?? emptyPeriod(at + count * PERIOD_MS.minute),
  );
}

/** On the axis: "03:12", "03:00", "21 Nov". */
export function tickOf(at: number, per: Per): string {
  if (per === "day") return utcDayOf(at);
  return new Date(at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
}

/** In a table and beside the pointer: "21 Nov, 03:12". */
export function titleOf(at: number, per: Per): string {
  return per === "day" ? utcDayOf(at) : `${dayOf(at)}, ${tickOf(at, per)}`;
}
