/**
 * Prints how many files and functions of the component the hottest transactions can reach, their tables, and the circles among
 * files: `npm run reach`. With a function's name, such as `claim/claim.ts:claimJobs`, all that it reaches.
 */
import { HOT, Reaches, type Access } from "../tests/support/reach.js";
import { componentModules } from "./support/testBuild.js";

const files = componentModules().filter((file) => !file.startsWith("_generated/"));
const reaches = new Reaches(files);
const [asked] = process.argv.slice(2);
if (asked === undefined) {
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
} else {
  const { functions, tables } = reaches.of(asked);
  for (const name of functions) console.log(name);
  const said = (accesses: ReadonlySet<Access>) => [...accesses].sort().join(" and ");
  for (const [table, accesses] of [...tables].sort()) console.log(`${table}: ${said(accesses)}`);
}
