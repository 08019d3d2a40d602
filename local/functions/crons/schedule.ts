/**
 * When a cron runs next: pure arithmetic on its schedule, in UTC. It knows no tables and no clock.
 *
 * As on the platform, jobs that name the same minute do not all start in its first second: each draws a delay once, and
 * keeps it, since the next delay is read back from the last run's time.
 */
import cronParser from "cron-parser";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** In the order of cron's numbers. */
export const DAYS_OF_WEEK = [
  "sunday",
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
] as const;

/** Without `minuteUTC` the platform chooses when in the hour. */
export type CronSchedule =
  | { type: "interval"; seconds: number }
  | { type: "hourly"; minuteUTC?: number }
  | { type: "daily"; hourUTC: number; minuteUTC?: number }
  | {
      type: "weekly";
      dayOfWeek: (typeof DAYS_OF_WEEK)[number];
      hourUTC: number;
      minuteUTC?: number;
    }
  | { type: "monthly"; day: number; hourUTC: number; minuteUTC?: number }
  | { type: "cron"; cron: string };

export interface NextRunOptions {
  /** When the run before was due, ms; `null` for the first. */
  previous: number | null;
  now: number;
  /** How far a schedule that names its minute is spread. */
  splayMs: number;
  /** Uniform in [0, 1). */
  random: () => number;
}

/** In ms. Always after `now`, but for intervals, which count from the run before: that can be long past. */
export function nextRun(schedule: CronSchedule, options: NextRunOptions): number {
  const { previous, now } = options;
  if (schedule.type === "interval") {
    return previous === null ? now : previous + schedule.seconds * SECOND_MS;
  }
  const { last, next } = delays(schedule, options);
  // A run that its delay carried past `now` is not the last one's successor yet: it is looked for on the schedule's own
  // clock.
  return occurrenceAfter(expressionOf(schedule), now - last) + next;
}

/** Throws an error about a bad expression of five fields. */
export function checkExpression(expression: string): void {
  occurrenceAfter(expression, 0);
}

type ClockSchedule = Exclude<CronSchedule, { type: "interval" }>;

/** The delay that the last run had, and the one that the next gets. They differ only where there was none. */
function delays(
  schedule: ClockSchedule,
  { previous, splayMs, random }: NextRunOptions,
): { last: number; next: number } {
  const free = schedule.type !== "cron" && schedule.minuteUTC === undefined;
  const spread = free ? HOUR_MS : splayMs;
  if (spread === 0) return { last: 0, next: 0 };
  const known = previous === null ? 0 : seconds(previous % (free ? HOUR_MS : MINUTE_MS));
  if (known > 0) return { last: known, next: known };
  const drawn = seconds(random() * spread);
  return { last: previous === null ? drawn : 0, next: drawn };
}

function seconds(ms: number): number {
  return Math.floor(ms / SECOND_MS) * SECOND_MS;
}

function expressionOf(schedule: ClockSchedule): string {
  if (schedule.type === "cron") return schedule.cron;
  const { minuteUTC: minute = 0 } = schedule;
  switch (schedule.type) {
    case "hourly":
      return `${minute} * * * *`;
    case "daily":
      return `${minute} ${schedule.hourUTC} * * *`;
    case "weekly":
      return `${minute} ${schedule.hourUTC} * * ${DAYS_OF_WEEK.indexOf(schedule.dayOfWeek)}`;
    case "monthly":
      return `${minute} ${schedule.hourUTC} ${schedule.day} * *`;
  }
}

/** Strictly after. */
function occurrenceAfter(expression: string, ms: number): number {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 5) {
    throw new Error(
      `A cron expression has five fields (minute, hour, day of the month, month, day of the week), ` +
        `got ${fields.length} in "${expression}".`,
    );
  }
  try {
    const parsed = cronParser.parseExpression(fields.join(" "), {
      currentDate: new Date(ms),
      utc: true,
    });
    return parsed.next().getTime();
  } catch (error) {
    throw new Error(`"${expression}" is no cron expression: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}
