/** The table of pairs in ARCHITECTURE.md: its rows' cells, by the pair's name. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../harness/paths.js";
import type { Pair } from "./pair.js";

export interface Documented {
  orders: number;
  guards: string;
}

export function documentedPairs(): Map<string, Documented> {
  const text = readFileSync(path.join(root, "ARCHITECTURE.md"), "utf8");
  const rows = text
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.split("|").map((cell) => cell.trim()));
  return new Map(
    rows.map(([, of, , , orders, guards]) => [
      of!,
      { orders: Number(orders?.replaceAll(",", "")), guards: guards ?? "" },
    ]),
  );
}

/** The row that the table must have for a pair. */
export function documentationOf({ orders, mutants }: Pair): Documented {
  return { orders, guards: mutants.map(({ without }) => without).join("; ") };
}
