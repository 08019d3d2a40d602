/** Which seed finds which planted bug first: `found.json`, and the table in `docs/internals/testing.md`. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import * as prettier from "prettier";
import { root } from "../../support/paths.js";
import { MUTANTS } from "./all.js";

export interface Find {
  seed: number;
  /** The checker. */
  by: string;
}
export type Found = Record<string, Find>;

const FOUND = path.join(root, "tests/simulation/mutants/found.json");
const PAGE = path.join(root, "docs/internals/testing.md");
const [BEGIN, END] = ["<!-- mutants -->", "<!-- /mutants -->"];

export async function readFound(): Promise<Found> {
  return JSON.parse(await readFile(FOUND, "utf8")) as Found;
}

/** In the order of the list, without bugs that were removed. */
export async function writeFound(found: Found): Promise<void> {
  const kept = Object.fromEntries(
    MUTANTS.flatMap(({ name }) => (found[name] === undefined ? [] : [[name, found[name]]])),
  );
  await write(FOUND, JSON.stringify(kept));
  const page = await readFile(PAGE, "utf8");
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined)
    throw new Error(`docs/internals/testing.md has no place for the table of mutants.`);
  const table = tableOf(kept).join("\n");
  await write(PAGE, `${before}${BEGIN}\n\n${table}\n\n${END}${after}`);
}

export function tableOf(found: Found): string[] {
  const rows = MUTANTS.map(({ name, needs = [], shownBy }) => {
    const find = found[name];
    const with_ = needs.length === 0 ? "" : needs.join(", ");
    return `| ${name} | ${with_} | ${find?.by ?? (shownBy === undefined ? "–" : `\`${shownBy}\``)} | ${find?.seed ?? "–"} |`;
  });
  return ["| planted | with | found by | in seeds |", "| --- | --- | --- | ---: |", ...rows];
}

async function write(file: string, text: string): Promise<void> {
  const config = await prettier.resolveConfig(file);
  await writeFile(file, await prettier.format(text, { ...config, filepath: file }));
}
