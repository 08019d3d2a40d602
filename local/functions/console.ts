/** The sandbox's `console`: each call becomes a log line, written as the platform writes it. */
import { inspect } from "node:util";
import type { Host } from "./host.js";
import type { LogLine } from "./types.js";

/** The platform drops the rest of a longer line (32,768 bytes in its code; counted here in characters). */
export const MAX_LOG_LINE_CHARS = 32_768;
const TRUNCATED = " (truncated due to length)";

type Level = LogLine["level"];

/** Strings are quoted, so that `"1"` and `1` differ in the log. */
export function formatLog(values: unknown[]): string {
  const text = values.map((value) => inspect(value)).join(" ");
  if (text.length <= MAX_LOG_LINE_CHARS) return text;
  return text.slice(0, MAX_LOG_LINE_CHARS - TRUNCATED.length) + TRUNCATED;
}

export function createConsole(host: () => Host): Record<string, (...values: unknown[]) => void> {
  const at =
    (level: Level) =>
    (...values: unknown[]) =>
      host().log(level, formatLog(values));
  // A call's own: the next call in the same sandbox begins to count anew.
  const states = new WeakMap<Host, { timers: Map<string, number>; counts: Map<string, number> }>();
  const state = () => {
    const known = states.get(host());
    if (known !== undefined) return known;
    const fresh = { timers: new Map<string, number>(), counts: new Map<string, number>() };
    states.set(host(), fresh);
    return fresh;
  };
  const elapsed = (label: string): string | null => {
    const started = state().timers.get(label);
    return started === undefined ? null : `${label}: ${host().performanceNow() - started}ms`;
  };
  return {
    debug: at("DEBUG"),
    log: at("LOG"),
    dir: (value) => host().log("LOG", formatLog([value])),
    table: at("LOG"),
    info: at("INFO"),
    warn: at("WARN"),
    error: at("ERROR"),
    trace: at("LOG"),
    group: at("LOG"),
    groupCollapsed: at("LOG"),
    groupEnd: () => {},
    assert: (condition, ...values) => {
      if (!condition) host().log("ERROR", formatLog(["Assertion failed", ...values]));
    },
    count: (label = "default") => {
      const { counts } = state();
      const count = (counts.get(String(label)) ?? 0) + 1;
      counts.set(String(label), count);
      host().log("LOG", `${String(label)}: ${count}`);
    },
    countReset: (label = "default") => void state().counts.delete(String(label)),
    time: (label = "default") => void state().timers.set(String(label), host().performanceNow()),
    timeLog: (label = "default", ...values) => {
      const line = elapsed(String(label));
      if (line !== null) host().log("LOG", [line, formatLog(values)].filter(Boolean).join(" "));
    },
    timeEnd: (label = "default") => {
      const line = elapsed(String(label));
      state().timers.delete(String(label));
      if (line !== null) host().log("LOG", line);
    },
  };
}
