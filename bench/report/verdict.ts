/** Whether a promise holds for all values. */
import type { Figures } from "../figures/count.js";
import type { Line } from "../lines.js";
import { short } from "./said.js";

export interface Target {
  promise: string;
  /** `undefined`: it was not played. */
  isMet: boolean | undefined;
  /** The measured values. */
  measured: string;
}

export function judgedLines(
  promise: string,
  lines: readonly Line[],
  of: (figures: Figures, line: Line) => number,
  holds: (value: number) => boolean,
): Target {
  const values = lines.map((line) => ({
    where: `${line.scenario}, ${line.case}`,
    value: of(line.figures, line),
  }));
  return verdict(promise, values, holds);
}

/** Where it fails, all places; else how far it goes. */
export function verdict(
  promise: string,
  values: readonly { where: string; value: number }[],
  holds: (value: number) => boolean,
): Target {
  if (values.length === 0) return { promise, isMet: undefined, measured: "not played" };
  const missed = values.filter(({ value }) => !holds(value));
  const say = ({ where, value }: { where: string; value: number }) => `${short(value)} (${where})`;
  if (missed.length > 0) return { promise, isMet: false, measured: missed.map(say).join("; ") };
  const numbers = values.map(({ value }) => value);
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return {
    promise,
    isMet: true,
    measured: least === most ? short(least) : `${short(least)} to ${short(most)}`,
  };
}
