/** The page of pairs, `docs/internals/pairs.md`: its items, by the pair's name. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../support/paths.js";
import type { Pair } from "./pair.js";

export interface Documented {
  orders: number;
  guards: string;
}

export function documentedPairs(): Map<string, Documented> {
  const text = readFileSync(path.join(root, "docs/internals/pairs.md"), "utf8");
  const [, ...sections] = text.split(/^## /m);
  return new Map(
    sections.map((section) => {
      const item = (name: string) => new RegExp(`^- ${name}: (.*)$`, "m").exec(section)?.[1] ?? "";
      const orders = Number(item("Orders").replaceAll(",", ""));
      return [section.split("\n")[0]!, { orders, guards: item("Guards") }];
    }),
  );
}

/** The items that the page must have for a pair. */
export function documentationOf({ orders, mutants }: Pair): Documented {
  return { orders, guards: mutants.map(({ without }) => without).join("; ") };
}
