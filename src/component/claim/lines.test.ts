/** Reads a line of the log as a log processor does: by the fields that its event is documented to have. */
import { validate } from "convex-helpers/validators";
import { expect, test } from "vitest";
import { LOG_EVENTS, LOG_LEVELS, type LogEvent, type LogLevel } from "../../shared/index.js";

export interface Line {
  conveyor: LogEvent;
  level: LogLevel;
  [field: string]: unknown;
}

/** Throws for a line that is no event, or differs from its event's documented fields. */
export function readLine(text: unknown): Line {
  const { conveyor, level, ...fields } = JSON.parse(text as string) as Line;
  if (!(conveyor in LOG_EVENTS)) throw new Error(`No event is called ${conveyor}.`);
  if (!LOG_LEVELS.includes(level)) throw new Error(`No level is called ${String(level)}.`);
  validate(LOG_EVENTS[conveyor], fields, { throw: true });
  return { conveyor, level, ...fields };
}

test("a line that is no event, lacks a field, or has one too many, is refused", () => {
  const line = { conveyor: "jobPromoted", level: "debug", queue: "tiles", job: "j" };
  expect(readLine(JSON.stringify(line))).toEqual(line);
  for (const wrong of [
    { ...line, conveyor: "jobVanished" },
    { ...line, level: "loud" },
    { ...line, job: undefined },
    { ...line, job: 7 },
    { ...line, attempt: 1 },
  ]) {
    expect(() => readLine(JSON.stringify(wrong))).toThrow();
  }
  expect(() => readLine("job j promoted")).toThrow();
});
