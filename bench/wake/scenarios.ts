/** The compared ways, and their loads. */
import type { Arrivals } from "../load.js";

export const WAYS = {
  "A: a wake, quiet by snapshot": "enqueue:glancing",
  "A': a wake, the gate read for real": "enqueue:depending",
  "A+: a wake, the gate turned ahead of time": "enqueue:announced",
  "B: a sleeping lane's row": "enqueue:patching",
} as const;
export type Way = keyof typeof WAYS;

/** The callers' own work takes so long on average: so many reads of 5 ms each. */
export interface Own {
  ms: number;
  reads: number;
}
export const OWN: Own[] = [15, 60, 200].map((ms) => ({ ms, reads: ms / 5 }));

/** Loads and callers, all ways each, with lanes that run so many jobs at once. */
export interface Part {
  title: string;
  caps: number[];
  loads: Record<string, Arrivals>;
  owns: Own[];
}

/** As many lanes as all queues together are to have on class S16: half of the functions that it schedules at once. */
const CAPS = [3, 3, 2, 2];

/** Ten jobs at once are 50 a second. */
export const FULL: Part[] = [
  {
    title: "Four lanes, for 3, 3, 2 and 2 jobs at once",
    caps: CAPS,
    loads: {
      "1,000 at once": { atOnce: 1_000 },
      "10/s": { perSecond: 10, seconds: 20 },
      "25/s": { perSecond: 25, seconds: 20 },
      "40/s": { perSecond: 40, seconds: 20 },
    },
    owns: OWN,
  },
  {
    title: "The same lanes, with twice the jobs that they can run",
    caps: CAPS,
    loads: { "100/s": { perSecond: 100, seconds: 8 } },
    owns: OWN.slice(0, 1),
  },
];

export const SMOKE: Part[] = [
  {
    title: "Two lanes",
    caps: [3, 2],
    loads: { "20 at once": { atOnce: 20 }, "25/s": { perSecond: 25, seconds: 1 } },
    owns: OWN.slice(0, 1),
  },
];
