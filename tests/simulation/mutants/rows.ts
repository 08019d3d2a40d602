/** Bugs in queues over the app's own tables. */
import { ROWS } from "../app/names.js";
import type { Plan } from "../plan.js";
import { guard } from "./guards.js";
import { having, type Mutant } from "./mutant.js";

const stops = having("rows.change", { how: "stop" });
/** Rows of the table that the app announces come at two times. */
function announcesTwice({ events }: Plan): boolean {
  const [, announced] = ROWS;
  return (
    events.filter(({ do: what, table }) => what === "rows.insert" && table === announced).length > 1
  );
}

const planted: readonly Omit<Mutant, "needs">[] = [
  {
    name: "a row that asks for its end before its claim stays where claims look",
    changes: guard(
      "a claim of a row, and a request in it to end its job",
      "marking a row that asks for its end",
    ),
    finds: ["rows", "simulation"],
    where: stops,
  },
  {
    name: "a row that asks for its end is given out",
    changes: [{ in: "rowTable.ts:RowTable.whyEnded", condition: "cancel row", is: false }],
    finds: ["rows"],
    where: stops,
  },
  {
    name: "rows that are announced after all were taken are announced to no worker",
    changes: [{ in: "tableRows.ts:setMore", condition: "more", is: "row !== null && more" }],
    finds: ["simulation"],
    where: announcesTwice,
  },
  {
    name: "the end of a row's job leaves its results away",
    changes: [{ in: "rowTable.ts:RowTable.recordEnd", without: "record" }],
    finds: ["rows"],
  },
  {
    name: "the late record of a job's end ends a row that has a job again",
    changes: [{ in: "rowTable.ts:RowTable.recordEnd", condition: "isActive", is: true }],
    finds: ["rows", "simulation"],
  },
];

export const ROWS_OF_APP: readonly Mutant[] = planted.map((one) => ({ ...one, needs: ["rows"] }));
