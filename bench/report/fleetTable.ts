/** Fleets that wait, in one table: where each worker follows the queue, beside fleets on call; and Conveyor's targets for them. */
import { markdownTable } from "markdown-table";
import { ALTERNATIVES, type AlternativeName } from "../alternatives.js";
import type { Fleet, Window } from "../cases.js";
import type { Line } from "../lines.js";
import { ALONE, BURST, IDLE, waitingFleets } from "../scenarios/waitingFleets.js";
import { short } from "./said.js";
import { verdict, type Target } from "./verdict.js";

/** The loads of one fleet. */
interface Row {
  size: number;
  of: AlternativeName;
  idle?: Line;
  alone?: Line;
  burst?: Line;
}

const WINDOWS: Record<string, "alone" | "idle" | "burst"> = {
  ...{ [ALONE]: "alone", [IDLE]: "idle", [BURST]: "burst" },
};

const HEAD = [
  ...["workers", "", "class", "calls per job alone", "without later upkeep"],
  ...["calls per idle minute", "start of a job alone p50 / p95 ms"],
  "1,000 jobs at once: all workers have begun one after, ms",
];
/** Calls of a job without later upkeep: its completion. */
const COMPLETES = 1;

export function fleetTableOf(lines: readonly Line[]): string {
  const cells = rowsOf(lines).map((row) => {
    const { size, idle, alone, burst } = row;
    const any = (idle ?? alone ?? burst)!;
    const start = alone?.figures.startMs;
    return [
      ...[String(size), ALTERNATIVES[any.of].label, any.settings.class.toUpperCase()],
      ...[callsAlone(row, allOf), callsAlone(row, handsOn), perMinute(idle, allOf)].map(said),
      start === undefined ? "—" : `${Math.round(start.p50)} / ${Math.round(start.p95)}`,
      wokenSaid(burst, size),
    ];
  });
  const intro =
    "Beside its enqueue, and without the calls that the idle fleet would have made meanwhile. Two runs of subscriptions are two calls, also where the answer comes from the cache.";
  return `${intro}\n\n${markdownTable([HEAD, ...cells])}`;
}

export function fleetTargetsOf(lines: readonly Line[]): Target[] {
  const rows = rowsOf(lines.filter(({ scenario }) => scenario === waitingFleets.title));
  const ours = rows.filter(({ of, size }) => of === "pulled" && size > 8);
  const valuesOf = (of: (row: Row) => number | undefined) =>
    ours.flatMap((row) => {
      const value = of(row);
      return value === undefined ? [] : [{ where: `${row.size} workers`, value }];
    });
  return [
    verdict(
      "Fleets on call: at most 6 calls per job alone beside its enqueue, completion and later upkeep",
      valuesOf((row) => less(callsAlone(row, handsOn), COMPLETES)),
      (calls) => calls <= 6,
    ),
    verdict(
      "Fleets on call: at most 60 calls per minute without jobs",
      valuesOf(({ idle }) => perMinute(idle, allOf)),
      (calls) => calls <= 60,
    ),
    verdict(
      "Fleets on call: a job alone begins no later than where each worker follows the queue",
      valuesOf(({ size, alone }) => {
        const other = rows.find((row) => row.of === "following" && row.size === size)?.alone;
        if (alone === undefined || other === undefined) return undefined;
        return alone.figures.startMs.p50 / other.figures.startMs.p50;
      }),
      (ratio) => ratio <= 1,
    ),
    verdict(
      "Fleets on call: of a burst of 1,000 jobs all workers have one within a second, ms",
      valuesOf(({ burst, size }) => {
        const woken = burst?.figures.woken;
        if (burst === undefined) return undefined;
        return woken === undefined || woken.workers < size ? Infinity : woken.ms;
      }),
      (ms) => ms <= 1_000,
    ),
  ];
}

function rowsOf(lines: readonly Line[]): Row[] {
  const rows = new Map<string, Row>();
  for (const line of lines) {
    const { workers: size } = line.settings["fleet"] as Fleet;
    const which = line.window === undefined ? undefined : WINDOWS[line.window];
    if (which === undefined) continue;
    const key = `${size} ${line.of}`;
    rows.set(key, { ...(rows.get(key) ?? { size, of: line.of }), [which]: line });
  }
  return [...rows.values()].toSorted((a, b) => a.size - b.size);
}

type Calls = (line: Line) => number;
/** All calls of a run. */
const allOf: Calls = ({ figures: { calls, jobs } }) => calls * Math.max(1, jobs);
const handsOn: Calls = (line) =>
  allOf(line) - line.figures.callsBehind * Math.max(1, line.figures.jobs);

function perMinute(line: Line | undefined, of: Calls): number | undefined {
  return line === undefined ? undefined : (of(line) * 60_000) / lengthOf(line);
}

/** A job's own: without the calls of an idle fleet in that time. */
function callsAlone({ alone, idle }: Row, of: Calls): number | undefined {
  const idleCalls = perMinute(idle, of);
  if (alone === undefined || idleCalls === undefined) return undefined;
  return (of(alone) - (idleCalls * lengthOf(alone)) / 60_000) / alone.figures.jobs;
}

function lengthOf({ window, settings }: Line): number {
  const { fromMs, toMs } = (settings["windows"] as Window[]).find(({ name }) => name === window)!;
  return toMs - fromMs;
}

function less(calls: number | undefined, by: number): number | undefined {
  return calls === undefined ? undefined : calls - by;
}

const said = (figure: number | undefined): string => (figure === undefined ? "—" : short(figure));

function wokenSaid(burst: Line | undefined, size: number): string {
  const woken = burst?.figures.woken;
  if (woken === undefined) return "—";
  const ms = Math.round(woken.ms).toLocaleString("en-US");
  return woken.workers === size ? ms : `${ms} (${short(woken.workers)} of them)`;
}
