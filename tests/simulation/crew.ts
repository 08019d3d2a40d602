/** Which workers of a fleet on call have which duty, by the rows of their sessions. */
import { FULL, WATCHING } from "../../src/component/rows/duties.js";
import type { Row, Tables } from "./observed.js";

/** How the names of its workers begin. */
export const CREW = "crew";

export type Duty = "onCall" | "full" | "watching" | "standby" | "none";

/** Names of workers; on standby they are sorted by their places. */
export interface Watch {
  onCall: string[];
  watching: string[];
  standby: string[];
  others: string[];
}

/** `onCall` is with room, as the component has it, and `none` is of a worker that was not given any yet. */
export function dutyIn({ peers, standbySince: since }: Row): Duty {
  if (peers === undefined) return "none";
  if (since === undefined) return "onCall";
  if (since === FULL) return "full";
  return since === WATCHING ? "watching" : "standby";
}

/** By the name of a worker, the newest session that it has begun. */
export function sessionsOfCrew(tables: Tables): Map<string, Row> {
  const newest = new Map<string, Row>();
  for (const row of tables.all("sessions")) {
    const name = row["name"] as string;
    const known = newest.get(name);
    if (!name.startsWith(CREW) || known?.["_creationTime"] > row["_creationTime"]) continue;
    newest.set(name, row);
  }
  return newest;
}

export function onDuty(
  { tables }: { tables: Tables },
  isThere: (worker: string) => boolean,
): Watch {
  const duties: Watch = { onCall: [], watching: [], standby: [], others: [] };
  const rows = [...sessionsOfCrew(tables).values()].sort(
    (a, b) => (a["standbySince"] ?? 0) - (b["standbySince"] ?? 0),
  );
  for (const row of rows) {
    const name = row["name"] as string;
    if (!isThere(name)) continue;
    const duty = dutyIn(row);
    if (duty === "onCall" || duty === "full") duties.onCall.push(name);
    else if (duty === "none") duties.others.push(name);
    else duties[duty].push(name);
  }
  return duties;
}
