import { SESSION_RETENTION_MS, ROUTES_KEPT } from "../../../src/shared/index.js";
import type { Row } from "../observed.js";
import type { Checker } from "../part.js";

/** Rows of past and present work: none of them outlives the jobs. */
const EMPTY = [
  ...["jobs", "payloads", "keys", "marks", "expiries", "attempts", "callbacks"],
  ...["cancels", "progress", "logs", "chunks"],
  ...["handOvers", "grants", "waitingQueues"],
  ...["ended", "arrived", "timers"],
];
/** At most one row of a queue: it is the queue's for good. */
const ONE_A_QUEUE = ["gates", "doors", "cursors", "fleets", "counted", "gauges", "announced"];
/** Lanes that are asleep: a wake finds one of them. See `SPARES`; a wake with an old snapshot makes one more. */
const LANES_MAX = 2 * 8;

export const nothingLeft: Checker = {
  name: "nothing left",
  promise:
    "when every job has ended and its retention is over, no row of any table is left that nothing will delete",
  marks: ["a world is empty in the end"],
  watch({ tables, broken, happened }) {
    return {
      gone() {
        for (const table of EMPTY) {
          const rows = tables.all(table);
          if (rows.length > 0) broken(`${table} has ${rows.length} rows: ${said(rows[0]!)}`);
        }
        for (const { name } of tables.all("queues")) checkQueue(name as string);
        const pushed = new Set(
          tables
            .all("queues")
            .filter(({ config }) => (config as { push: boolean }).push)
            .map(({ name }) => name as string),
        );
        // The lane of a rare job takes the sweep with it that would forget sessions which were idle when they were killed.
        const isSwept = ({ queues }: Row) => (queues as string[]).some((name) => !pushed.has(name));
        const sessions = tables.all("sessions");
        const lastAt = Math.max(...sessions.map(({ lastSeenAt }) => lastSeenAt as number));
        for (const row of sessions) {
          if (row["leases"].length > 0 || row["state"] === "active")
            broken(`a session is at work: ${said(row)}`);
          if (row["lane"] !== undefined) {
            const isThere = tables.get("lanes", row["lane"] as string) !== undefined;
            if (!isThere) broken(`a session's lane is gone: ${said(row)}`);
          } else if (
            row["lastSeenAt"] < lastAt - SESSION_RETENTION_MS &&
            (isSwept(row) || row["state"] === "gone")
          )
            broken(`a session is not forgotten: ${said(row)}`);
        }
        for (const row of tables.all("processes"))
          if (row["state"] !== "free") broken(`a slot is taken: ${said(row)}`);
        for (const row of tables.all("announced"))
          if (row["more"] === true) broken(`rows are announced that are not there: ${said(row)}`);
        happened("a world is empty in the end");
      },
    };

    function checkQueue(queue: string): void {
      const of = (table: string) => tables.all(table).filter((row) => row["queue"] === queue);
      for (const table of ONE_A_QUEUE) {
        const rows = of(table);
        if (rows.length > 1) broken(`${queue} has ${rows.length} rows of ${table}`);
      }
      const routes = of("routes");
      if (routes.length > ROUTES_KEPT) broken(`${queue} has ${routes.length} routes`);
      const lanes = of("lanes");
      if (lanes.length > LANES_MAX) broken(`${queue} has ${lanes.length} lanes`);
      for (const lane of lanes) {
        if (tables.get("sessions", lane["session"] as string) === undefined)
          broken(`a lane's session is gone: ${said(lane)}`);
      }
      if (of("gauges").some((row) => row["isKept"] === true))
        broken(`the gauge of ${queue} is kept`);
    }
  },
};

const said = (row: Row): string =>
  JSON.stringify(row, (_, value: unknown) =>
    typeof value === "bigint" ? Number(value) : value,
  ).slice(0, 300);
