/** Times, as the values that so many in 100 do not exceed. */

export interface Latencies {
  p50: number;
  p95: number;
  p99: number;
  /** Of all. Lines of before have none. */
  max?: number;
}

/** In whole milliseconds; zeros where there is nothing. */
export function latencies(values: readonly number[]): Latencies {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (hundredths: number) =>
    Math.round(sorted[Math.floor((hundredths / 100) * (sorted.length - 1))] ?? 0);
  return { p50: at(50), p95: at(95), p99: at(99), max: at(100) };
}
