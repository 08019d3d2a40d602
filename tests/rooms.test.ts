/**
 * The rooms of the component: imports go down the list only, a room is small and has a page, and a registered function has
 * a name of its own. A function that is scheduled, or called in a transaction of its own, may be named from below: the import
 * graph has no such edge.
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "./support/paths.js";
import { codeOf, importsOf } from "./support/sources.js";
import { componentModules } from "../scripts/support/testBuild.js";

/** From the top down. The root has the public functions. */
const ROOMS = [
  "root",
  "views",
  "manage",
  "tend",
  "push",
  "attempts",
  "claim",
  "enter",
  "count",
  "edges",
  "loops",
  "index",
  "rows",
];
const FILES_MAX = 20;
const README_LINES_MAX = 40;

/** Imports that still go up: a heartbeat that finds a sweep late, and the count that an end arms. */
const UPWARDS = [
  "attempts/heartbeat.ts → tend/watchdog.ts",
  "edges/applyEffects.ts → count/rollUp.ts",
  "push/idleShutdown.ts → tend/sweepPlan.ts",
  "push/idleShutdown.ts → tend/watchdog.ts",
];

/**
 * Files that schedule functions. A loop is sure to run again, a wake and a lane are repaired by sweeps. The `plain` ones go
 * without an alarm: one that is lost is no loss, or leaves a row that a sweep finds.
 */
const SCHEDULES = {
  loop: ["loops/loop.ts"],
  wake: ["edges/wakes.ts"],
  lane: ["push/laneAction.ts", "push/laneOnce.ts"],
  plain: [
    "attempts/completeLater.ts",
    "claim/fleet.ts",
    "edges/callbacks.ts",
    "push/mainLoop.ts",
    "rows/payloads.ts",
    "rows/tokens.ts",
    "tend/revoked.ts",
    "tend/watchdog.ts",
  ],
};

const COMPONENT = "src/component";
const folder = path.join(root, COMPONENT);
const files = componentModules().filter((file) => !file.startsWith("_generated/"));
const roomOf = (file: string) => (file.includes("/") ? file.slice(0, file.indexOf("/")) : "root");

/** The files of the component that this one imports. The schema, which the CLI takes from the root, is made of `rows/tables`. */
function imports(file: string): string[] {
  return importsOf(`${COMPONENT}/${file}`)
    .map((target) => `${path.relative(COMPONENT, target)}.ts`)
    .filter((target) => files.includes(target) && target !== "schema.ts");
}

test("every file is in a room of the list", () => {
  expect(files.length).toBeGreaterThan(100);
  expect([...new Set(files.map(roomOf))].sort()).toEqual([...ROOMS].sort());
});

test("imports go down the list of rooms, with the exceptions that are named", () => {
  const all = files.flatMap((file) => imports(file).map((target) => ({ file, target })));
  expect(all.length).toBeGreaterThan(500);
  const up = all.filter(
    ({ file, target }) => ROOMS.indexOf(roomOf(target)) < ROOMS.indexOf(roomOf(file)),
  );
  expect(up.map(({ file, target }) => `${file} → ${target}`).sort()).toEqual(UPWARDS);
});

describe.each(ROOMS.slice(1))("%s", (room) => {
  test(`has at most ${FILES_MAX} files`, () => {
    const own = files.filter((file) => roomOf(file) === room && !file.startsWith("rows/tables/"));
    expect(own.length).toBeGreaterThan(0);
    expect(own.length).toBeLessThanOrEqual(FILES_MAX);
  });

  test(`opens with a page of at most ${README_LINES_MAX} lines, with its tables and conflicts`, () => {
    const page = path.join(folder, room, "README.md");
    expect(existsSync(page)).toBe(true);
    const text = readFileSync(page, "utf8");
    expect(text.split("\n").length).toBeLessThanOrEqual(README_LINES_MAX);
    expect(text).toMatch(/^Tables: /m);
    expect(text).toMatch(/^Conflicts: /m);
    const named = [...text.matchAll(/`(\w+(?:\/\w+)?\.ts)`/g)].map(([, name]) => name!);
    expect(named.filter((name) => !files.some((file) => file.endsWith(name)))).toEqual([]);
  });
});

test("an edge calls no scheduler, and one file makes the context that it needs", () => {
  for (const file of ["transitions", "ending", "deadlines"])
    expect(codeOf(`${COMPONENT}/edges/${file}.ts`)).not.toMatch(/scheduler|\brun(?:After|At)\b/);
  const makes = (file: string) =>
    /: Effects = \{|as (?:unknown as )?EdgeCtx\b/.test(codeOf(`${COMPONENT}/${file}`));
  expect(files.filter(makes)).toEqual(["edges/applyEffects.ts"]);
});

test("a registered function has a name of its own", () => {
  const names = files.flatMap((file) =>
    [
      ...codeOf(`${COMPONENT}/${file}`).matchAll(
        /^export const (\w+) = (?:(?:internal)?(?:Mutation|Query|Action)|mutation|query|action|define(?:Segment)?Loop)\(/gm,
      ),
    ].map(([, name]) => ({ name: name!, file })),
  );
  expect(names.length).toBeGreaterThan(90);
  const shared = names.filter(
    ({ name, file }) =>
      roomOf(file) !== "root" && names.filter((other) => other.name === name).length > 1,
  );
  expect(shared).toEqual([]);
});

test("only files of loops read or write the table of what runs later", () => {
  const touching = files.filter((file) =>
    /\.(?:query|get|normalizeId|insert|patch|replace|delete)\(\s*"timers"/.test(
      codeOf(`${COMPONENT}/${file}`),
    ),
  );
  expect(touching.map(roomOf)).toContain("loops");
  expect(touching.filter((file) => roomOf(file) !== "loops")).toEqual([]);
});

test("a function runs later as a loop, a wake, a lane, or one of few that need no alarm", () => {
  const scheduling = files.filter((file) =>
    /scheduler\s*\.run(?:After|At)\(/.test(codeOf(`${COMPONENT}/${file}`)),
  );
  expect(scheduling.sort()).toEqual(Object.values(SCHEDULES).flat().sort());
});

test("the function of each kind of loop is defined with that kind", () => {
  const code = codeOf(`${COMPONENT}/loops/loop.ts`);
  const loops = [...code.matchAll(/^ {2}(\w+): internal\.(\w+)\.(\w+)\.(\w+),$/gm)];
  expect(loops.length).toBeGreaterThan(5);
  for (const [, kind, room, file, name] of loops) {
    const definition = new RegExp(
      `^export const ${name} = define(?:Segment)?Loop\\(\\{\\s*kind: "${kind}",`,
      "m",
    );
    expect(codeOf(`${COMPONENT}/${room}/${file}.ts`)).toMatch(definition);
  }
});
