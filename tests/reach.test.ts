/**
 * One transaction reaches few files and functions: the more it can reach, the more a reader must hold. The bounds are the
 * figures of now: a rise has its reason in the change that brings it. `npm run reach` prints them.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { CONCURRENCY_PAGE, concurrencyPage } from "./support/concurrency.js";
import { root } from "./support/paths.js";
import { HOT, Reaches } from "./support/reach.js";
import { headerOf } from "./support/sources.js";
import { componentModules } from "../scripts/support/testBuild.js";

/** Files and functions, at most. */
const BOUNDS: Record<keyof typeof HOT, [files: number, functions: number]> = {
  claim: [35, 227],
  complete: [56, 379],
  heartbeat: [22, 113],
  enqueue: [25, 130],
  wake: [39, 246],
  "lane's step": [65, 408],
  sweep: [49, 276],
};
/** Files of the largest circle. */
const CIRCLE_MAX = 8;

const modules = componentModules().filter((file) => !file.startsWith("_generated/"));
const reaches = new Reaches(modules);

describe("the transactions that run most often", () => {
  test.each(Object.entries(BOUNDS))("%s", (step, [files, functions]) => {
    const reach = reaches.of(HOT[step as keyof typeof HOT]);
    expect(reach.files.length).toBeLessThanOrEqual(files);
    expect(reach.functions.length).toBeLessThanOrEqual(functions);
  });
});

test("files that reach each other are few", () => {
  expect(reaches.circles()[0]?.length ?? 0).toBeLessThanOrEqual(CIRCLE_MAX);
});

test("a nested query is reached, and a scheduled function is not", () => {
  const { functions } = reaches.of("lib.ts:claim");
  expect(functions).toContain("claim/choose.ts:chooseJobs");
  expect(functions).not.toContain("claim/fleet.ts:countFleet");
});

test("the tables of a transaction are the ones that its functions name", () => {
  const { tables } = reaches.of("lib.ts:enqueue");
  expect([...tables.get("jobs")!].sort()).toEqual(["reads", "writes"]);
  expect(tables.has("tokens")).toBe(false);
  // A call that stands on several lines is one.
  expect([...reaches.of("claim/fleet.ts:countFleet").tables.get("fleets")!].sort()).toEqual([
    "reads",
    "writes",
  ]);
});

test("the page of conflicts has every mutation with its tables, as the source has them", () => {
  const page = readFileSync(path.join(root, CONCURRENCY_PAGE), "utf8");
  expect(page).toBe(concurrencyPage(reaches, modules));
  expect(page.match(/^- `\w+`: reads /gm)?.length).toBeGreaterThan(60);
});

test("a file with mutations says what they conflict with", () => {
  const mute = modules.filter(
    (file) =>
      file.includes("/") &&
      reaches.mutations(file).length > 0 &&
      !/[Cc]onflicts with/.test(headerOf(`src/component/${file}`).join(" ")),
  );
  expect(mute).toEqual([]);
});
