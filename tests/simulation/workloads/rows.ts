/**
 * The app's own tables as queues: rows are inserted, canceled, deleted and made claimable anew while they wait and while they
 * run, and a loop goes over batches of rows.
 */
import { LOOP, ROWS } from "../app/names.js";
import { kept } from "../moments.js";
import type { Row } from "../observed.js";
import type { Part } from "../part.js";
import type { Plan, Planned, QueueName, WorkerSpec } from "../plan.js";
import type { Simulation } from "../simulation.js";

const FIRST_N = 10_000;
const TIMES_MS = [0, 30, 200, 1_500];

export const hasRows = ({ parts }: Pick<Plan, "parts">): boolean => parts.includes(rows.name);
export const isRows = (queue: unknown): boolean => (ROWS as readonly unknown[]).includes(queue);

export const rows: Part = {
  name: "rows",
  about: "rows of the app's own tables are inserted, canceled, deleted and made claimable anew",
  chance: 0.033,
  fits: ({ crowd }) => Object.keys(crowd).length === 0,
  get serves() {
    return ROW_WORKERS;
  },
  plan(draw, { faultsMs }) {
    let n = FIRST_N;
    const tables = draw.pick([[ROWS[0]], [ROWS[1]], ROWS, [ROWS[1], LOOP]]);
    const inserts = Array.from({ length: draw.pick([1, 2, 4]) }, (): Planned => {
      const table = draw.pick(tables);
      const given = Array.from({ length: draw.pick([1, 1, 2, 5]) }, () => ({
        n: ++n,
        turns: [
          {
            ms: draw.pick(TIMES_MS),
            end: draw.chance(0.75) ? "returns" : draw.pick(ENDS),
            listens: draw.chance(0.3),
          },
          { ms: draw.pick(TIMES_MS), end: draw.chance(0.8) ? "returns" : "throws" },
        ],
      }));
      return { at: draw.between(0, faultsMs * 0.8), do: "rows.insert", table, rows: given };
    });
    const changes = Array.from({ length: draw.pick([1, 2, 4, 6]) }, (): Planned => {
      const how = draw.pick(["remove", "remove", "cancel", "stop", "stop", "again"]);
      const state = how === "again" ? "done" : draw.pick(["new", "busy", "busy"]);
      const at = draw.between(faultsMs * 0.1, faultsMs);
      return { at, do: "rows.change", how, state, which: draw.next() };
    });
    return [...inserts, ...changes];
  },
  perform: {
    insert(simulation, { table, rows: given }) {
      simulation.ask("insertRows", { table, rows: given });
      simulation.happened(`inserts into ${table as string}`);
    },
    /** As soon as a row is in that state. */
    change(simulation, { how, state, which }) {
      const fitting = () =>
        ROWS.flatMap((table) =>
          simulation.tables.all(table, "").filter((row: Row) => row["state"] === state),
        );
      const then = () => {
        const all = fitting();
        const row = all[Math.floor((which as number) * all.length)];
        if (row === undefined || simulation.now() >= simulation.plan.faultsMs) return;
        waiting(simulation).delete(look);
        simulation.watchers.delete(look);
        simulation.ask("changeRow", { row: row._id, how });
        simulation.happened(`${how as string} of a row that is ${state as string}`);
      };
      const look = () => {
        if (fitting().length > 0) then();
      };
      waiting(simulation).add(look);
      simulation.watchers.add(look);
      look();
    },
  },
  heal(simulation) {
    for (const look of waiting(simulation)) simulation.watchers.delete(look);
  },
  marks: [
    ...[...ROWS, LOOP].map((table) => `inserts into ${table}`),
    ...["remove", "cancel", "stop"].flatMap((how) =>
      ["new", "busy"].map((state) => `${how} of a row that is ${state}`),
    ),
    "again of a row that is done",
  ],
};

const ENDS = ["throws", "throws", "throwsUntil", "snoozes", "hangs"];
const waiting = kept(() => new Set<() => void>());

const ROW_WORKERS: readonly WorkerSpec[] = [1, 2].map((i) => ({
  ...{ name: `worker of rows ${i}`, queues: [...ROWS] as string[] as QueueName[] },
  ...{ concurrency: i, labels: [], api: "rows" },
}));

/** Rows that wait, or have a job. */
export function openRows({ plan, tables }: Pick<Simulation, "plan" | "tables">): string[] {
  if (!hasRows(plan)) return [];
  return [...ROWS, LOOP].flatMap((table) =>
    tables
      .all(table, "")
      .filter(({ state }) => state === "new" || state === "busy")
      .map(({ n, state }) => `row ${n as number} of ${table}, which is ${state as string}`),
  );
}

/** Whether its jobs are made by the component out of rows of the app's. */
export const isOfTable = (queue: unknown): boolean => isRows(queue) || queue === LOOP;
