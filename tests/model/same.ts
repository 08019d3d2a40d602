/** Comparison of answers, and choice of jobs and workers. */
import { expect } from "./follow.js";

/** By a number, modulo how many there are. */
export function pick<T>(list: readonly T[], index: number): T;
export function pick<T>(list: readonly T[], index: number): T | undefined {
  return list[index % list.length];
}

export function same(got: unknown, wanted: unknown): void {
  const text = (value: unknown) => JSON.stringify(sorted(value));
  expect(text(got) === text(wanted), "the answer is the model's", { got, wanted });
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
