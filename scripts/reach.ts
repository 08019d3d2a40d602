/**
 * Prints how many files and functions of the component the hottest transactions can reach, their tables, and the circles among
 * files: `npm run reach`. With a function's name, such as `claim/claim.ts:claimJobs`, all that it reaches. With `--write`, writes
 * the page of what conflicts with what.
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { CONCURRENCY_PAGE, concurrencyPage } from "../tests/support/concurrency.js";
import { root } from "../tests/support/paths.js";
import { HOT, Reaches, type Access } from "../tests/support/reach.js";
import { componentModules } from "./support/testBuild.js";

const { values, positionals } = parseArgs({
  options: { write: { type: "boolean", default: false } },
  allowPositionals: true,
});
const files = componentModules().filter((file) => !file.startsWith("_generated/"));
const reaches = new Reaches(files);
const [asked] = positionals;
if (values.write) writeFileSync(path.join(root, CONCURRENCY_PAGE), concurrencyPage(reaches, files));
else if (asked === undefined) printHot();
else print(asked);

function printHot(): void {
  for (const [step, name] of Object.entries(HOT)) {
    const { files: reached, functions, tables } = reaches.of(name);
    console.log(
      `${step}: ${reached.length} files, ${functions.length} functions, ${tables.size} tables`,
    );
  }
  const circles = reaches.circles();
  console.log(`${files.length} files, ${reaches.names().length} functions`);
  console.log(`circles among files: ${circles.map(({ length }) => length).join(", ") || "none"}`);
  for (const circle of circles) console.log(`  ${circle.join(" ")}`);
}

function print(name: string): void {
  const { functions, tables } = reaches.of(name);
  for (const one of functions) console.log(one);
  const how = (accesses: ReadonlySet<Access>) => [...accesses].sort().join(" and ");
  for (const [table, accesses] of [...tables].sort()) console.log(`${table}: ${how(accesses)}`);
}
