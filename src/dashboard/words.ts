/** Numbers, times and errors in words. Pure, but for the reader's locale. */
import type { Count } from "../shared/index.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "12,345". */
export const numeral = (value: number) => Math.round(value).toLocaleString();

/** "1,000+" where the count stopped at its limit. */
export const countOf = ({ count, more }: Count) => `${numeral(count)}${more ? "+" : ""}`;

/** "1 job", "2,000 jobs". */
export const several = (count: number, one: string, many = `${one}s`) =>
  `${numeral(count)} ${count === 1 ? one : many}`;

/** "0", "0.4", "12", "1,200": a rate per minute. */
export function rate(value: number): string {
  if (value > 0 && value < 0.1) return "<0.1";
  return value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 1 : 0 });
}

/** "97 %", and never 100 % with a failure. */
export function share(value: number): string {
  const percent = value * 100;
  if (percent > 99 && percent < 100) return `${(Math.floor(percent * 10) / 10).toFixed(1)} %`;
  return `${Math.round(percent)} %`;
}

/** "34 ms", "1.2 s", "20 s", "3 min 5 s", "2 h 10 min", "4 d 3 h": two figures at most. */
export function duration(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < 950) return `${Math.round(whole)} ms`;
  if (whole < 9_950) return `${(whole / SECOND).toFixed(1)} s`;
  if (whole < 59_500) return `${Math.round(whole / SECOND)} s`;
  if (whole < HOUR - SECOND / 2) return twoUnits(whole, MINUTE, "min", SECOND, "s");
  if (whole < DAY - MINUTE / 2) return twoUnits(whole, HOUR, "h", MINUTE, "min");
  return twoUnits(whole, DAY, "d", HOUR, "h");
}

function twoUnits(ms: number, large: number, one: string, small: number, other: string): string {
  const rounded = Math.round(ms / small) * small;
  const rest = (rounded % large) / small;
  return `${Math.floor(rounded / large)} ${one}${rest === 0 ? "" : ` ${rest} ${other}`}`;
}

/** "now", "3 s ago", "4 min ago". Never in the future: the browser's clock may be behind the backend's. */
export function ago(at: number, now: number): string {
  const passed = now - at;
  return passed < SECOND ? "now" : `${rough(passed)} ago`;
}

/** "in 3 s", or "now" for a time in the past. */
export function until(at: number, now: number): string {
  const left = at - now;
  return left < SECOND ? "now" : `in ${rough(left)}`;
}

/** One unit: the text changes every second. */
function rough(ms: number): string {
  if (ms < 90 * SECOND) return `${Math.round(ms / SECOND)} s`;
  if (ms < 90 * MINUTE) return `${Math.round(ms / MINUTE)} min`;
  if (ms < 36 * HOUR) return `${Math.round(ms / HOUR)} h`;
  return `${Math.round(ms / DAY)} d`;
}

/** "03:12:45", with the day unless that is today. */
export function moment(at: number, now: number): string {
  const time = new Date(at).toLocaleTimeString(undefined, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
  const isToday = new Date(at).toDateString() === new Date(now).toDateString();
  return isToday ? time : `${dayOf(at)}, ${time}`;
}

/** "21 Nov". */
export const dayOf = (at: number) =>
  new Date(at).toLocaleDateString(undefined, { day: "numeric", month: "short" });

/** The same of a day of the statistics, which are of UTC: west of it, its first hours are of the day before. */
export const utcDayOf = (at: number) =>
  new Date(at).toLocaleDateString(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

/** The message of an app's error, or of the thrown error without the client's prefix. */
export function messageOf(error: unknown): string {
  const data = dataOf(error);
  if (typeof data === "string") return data;
  if (typeof data === "object" && data !== null && "message" in data) return String(data.message);
  const text = error instanceof Error ? error.message : String(error);
  const [first = "", ...rest] = text.split("\n");
  // "[CONVEX Q(dashboard:stats)] [Request ID: 1] Server Error", with "Uncaught Error: …" below it in development.
  const thrown = rest.find((line) => line.startsWith("Uncaught "));
  return (thrown ?? first).replace(/^(\[[^\]]*\] ?)+|^Uncaught (\w+: )?/, "") || first;
}

/** Whether the app itself refused, with an error of its own: it stands for as long as the reader is the same. */
export const isRefusal = (error: unknown) => dataOf(error) !== undefined;

/** By its shape and not its class: a bundle may hold two copies of `ConvexError`. */
function dataOf(error: unknown): unknown {
  return error instanceof Error && "data" in error ? error.data : undefined;
}
