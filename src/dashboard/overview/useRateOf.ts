/** How many jobs of a queue finish per minute. */
import type { Gauge } from "../../shared/index.js";
import { useAgeOf } from "../frame/clock.js";

/** The time that a rate covers: after it, each of its jobs is further back. */
const RATE_MS = 5 * 60_000;

/** The rate at this time, which falls to 0: of a queue that stands still, no new one is sent. */
export function useRateOf(): (gauge: Gauge) => number {
  const ageOf = useAgeOf();
  return (gauge) => (ageOf(gauge) < RATE_MS ? gauge.perMinute.finished : 0);
}
