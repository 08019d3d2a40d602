/**
 * The crons of `crons.ts`, as `cronJobs()` exports them, checked and brought into the runner's form. A name of a
 * missing function, or a time that never comes, is an error of the push.
 */
import type { JSONValue } from "convex/values";
import { canonicalPath } from "../functions/lookup.js";
import { checkExpression, DAYS_OF_WEEK, type CronSchedule } from "../functions/crons/schedule.js";
import type { AnalyzedFunction, CronSpec, ModuleSource } from "../functions/types.js";
import { describe, failure } from "./failures.js";
import type { Importer } from "./importing.js";

const CRONS_MODULE = "crons.js";

type Functions = ReadonlyMap<string, AnalyzedFunction[]>;

/** Of a component, or of the app at `""`. None where there is no `crons.ts`. */
export async function evaluateCrons(
  modules: Map<string, ModuleSource>,
  functions: Functions,
  component: string,
  importer: Importer,
): Promise<Map<string, CronSpec>> {
  if (!modules.has(CRONS_MODULE)) return new Map();
  const what = component === "" ? CRONS_MODULE : `${CRONS_MODULE} of component ${component}`;
  const exports = await importer(modules).import(CRONS_MODULE, what);
  const crons = exports["default"] as { isCrons?: boolean; export?: () => string } | undefined;
  if (crons?.isCrons !== true || typeof crons.export !== "function") {
    throw failure(
      "InvalidModules",
      `${what} must export its crons by default: const crons = cronJobs(); … export default crons;`,
    );
  }
  const declared = JSON.parse(crons.export()) as Record<string, unknown>;
  return new Map(
    Object.entries(declared)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, cron]) => [name, parseCron(name, cron, functions, what)]),
  );
}

function parseCron(name: string, cron: unknown, functions: Functions, what: string): CronSpec {
  const refuse = (why: string) => failure("InvalidCron", `${what}: cron "${name}": ${why}`);
  const declared = cron as { name: string; args: JSONValue[]; schedule: Record<string, unknown> };
  const path = canonicalPath(declared.name);
  requireRunnable(path, functions, refuse);
  try {
    return { path, args: declared.args[0] ?? {}, schedule: parseSchedule(declared.schedule) };
  } catch (error) {
    throw refuse(describe(error));
  }
}

function requireRunnable(path: string, functions: Functions, refuse: (why: string) => Error): void {
  const colon = path.lastIndexOf(":");
  const module = functions.get(`${path.slice(0, colon)}.js`);
  const found = module?.find(({ name }) => name === path.slice(colon + 1));
  if (found === undefined) {
    throw refuse(`there is no function '${path}'. A cron runs a function of its own component.`);
  }
  if (found.udfType === "Query") {
    throw refuse(`'${path}' is a query. Only mutations and actions can be scheduled.`);
  }
}

/** Of each kind only the fields that count, so that two of the same are the same text. */
function parseSchedule(given: Record<string, unknown>): CronSchedule {
  const minute = given["minuteUTC"];
  const minuteUTC = minute === undefined ? {} : { minuteUTC: within(minute, "minuteUTC", 0, 59) };
  const hourUTC = () => within(given["hourUTC"], "hourUTC", 0, 23);
  switch (given["type"]) {
    case "interval":
      return { type: "interval", seconds: intervalOf(given) };
    case "hourly":
      return { type: "hourly", ...minuteUTC };
    case "daily":
      return { type: "daily", hourUTC: hourUTC(), ...minuteUTC };
    case "weekly":
      return { type: "weekly", dayOfWeek: dayOfWeek(given), hourUTC: hourUTC(), ...minuteUTC };
    case "monthly": {
      const day = within(given["day"], "day", 1, 31);
      return { type: "monthly", day, hourUTC: hourUTC(), ...minuteUTC };
    }
    case "cron": {
      const cron = String(given["cron"]);
      checkExpression(cron);
      return { type: "cron", cron };
    }
    default:
      throw new Error(
        `a schedule is interval, hourly, daily, weekly, monthly or cron, got ${JSON.stringify(given["type"])}.`,
      );
  }
}

function intervalOf({ seconds, minutes, hours }: Record<string, unknown>): number {
  const given = [
    [seconds, 1],
    [minutes, 60],
    [hours, 3600],
  ].filter(([amount]) => amount !== undefined && amount !== null) as [number, number][];
  const [first] = given;
  if (first === undefined || given.length > 1) {
    throw new Error("exactly one of seconds, minutes and hours says how long an interval is.");
  }
  const [amount, unit] = first;
  return within(amount, "an interval", 1, Number.MAX_SAFE_INTEGER) * unit;
}

function dayOfWeek({ dayOfWeek: given }: Record<string, unknown>): (typeof DAYS_OF_WEEK)[number] {
  const found = DAYS_OF_WEEK.find((day) => day === given);
  if (found !== undefined) return found;
  throw new Error(`dayOfWeek is one of ${DAYS_OF_WEEK.join(", ")}, got ${JSON.stringify(given)}.`);
}

function within(value: unknown, name: string, least: number, most: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) {
    return value;
  }
  const upTo = most === Number.MAX_SAFE_INTEGER ? `at least ${least}` : `from ${least} to ${most}`;
  throw new Error(`${name} must be a whole number, ${upTo}, got ${JSON.stringify(value)}.`);
}
