/** The lines of one run with several seeds, as one: means, and how far they can be trusted. */
import type { Line } from "../lines.js";

type Numbers = { [name: string]: unknown };

/** Student's t at 97.5 %, by how many values there are less one. */
const T = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];
/** Of these every one counts, and a mean would hide it. */
const SUMMED = /^(callerErrors|workerErrors|refused|lost)$/;
const GREATEST = /(^|\.)(atOnce|most)$/;

/** `all` has a list of lines for each seed, in the same order. */
export function merged(all: readonly Line[][]): Line[] {
  const [first = []] = all;
  if (all.length < 2) return first;
  return first.map((line, i) => {
    const same = all.map((lines) => lines[i]!.figures as unknown as Numbers);
    const intervals: Line["intervals"] = {};
    const figures = meanOf(same, "", intervals) as unknown as Line["figures"];
    return { ...line, settings: { ...line.settings, seeds: all.length }, figures, intervals };
  });
}

function meanOf(same: readonly Numbers[], at: string, intervals: Line["intervals"] & {}): Numbers {
  const names = [...new Set(same.flatMap((one) => Object.keys(one)))];
  return Object.fromEntries(
    names.map((name) => {
      const path = at === "" ? name : `${at}.${name}`;
      const values = same.map((one) => one[name]).filter((value) => value !== undefined);
      if (typeof values[0] !== "number")
        return [name, meanOf(values as Numbers[], path, intervals)];
      return [name, valueOf(values as number[], path, intervals)];
    }),
  );
}

function valueOf(
  values: readonly number[],
  path: string,
  intervals: Line["intervals"] & {},
): number {
  const sum = values.reduce((all, one) => all + one, 0);
  if (SUMMED.test(path)) return sum;
  if (GREATEST.test(path)) return Math.max(...values);
  const mean = sum / values.length;
  const variance = values.reduce((all, one) => all + (one - mean) ** 2, 0) / (values.length - 1);
  const off = (T[values.length - 2] ?? 2.2) * Math.sqrt(variance / values.length);
  if (values.length > 1) intervals[path] = [Math.max(0, mean - off), mean + off];
  return mean;
}
