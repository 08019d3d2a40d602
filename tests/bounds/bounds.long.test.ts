/**
 * The reads of each registered function at the documented limits, all of them at once: under half of the platform's limits, and
 * no more than the figures of `docs/internals/bounds.md`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import prettier from "prettier";
import { beforeAll, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { root } from "../support/paths.js";
import { PLATFORM_LIMITS } from "../../local/limits.js";
import { OVERVIEW_QUEUES_MAX } from "../../src/shared/index.js";
import { callsOf } from "./calls.js";
import { ACTIONS, WITHIN } from "./within.js";
import { queueName } from "./fullShapes.js";
import { query } from "./lookCalls.js";
import { plantAll } from "./fullWorld.js";
import { LargeWorld, usedBy, type Used } from "./largeWorld.js";
import { COLUMNS, pageOf, rounded } from "./report.js";
import { Transactions } from "../interleavings/transactions.js";
import { COMPONENT, deploymentOf } from "../races/deployment.js";

const PAGE = path.join(root, "docs/internals/bounds.md");

/** Dice choose where a call begins to scan, and whether it revives a timer that it finds. */
const DICE = counts(2, 5);

/** By function, the most of all its calls. */
const worst = new Map<string, Used>();
const failed: string[] = [];
let registered: string[] = [];
/** One of as many queues as an overview shows. */
let beside: Used;

beforeAll(async () => {
  const deployment = await deploymentOf([]);
  const { functions } = deployment.instances.get(COMPONENT)!.definition;
  registered = [...functions].flatMap(([module, all]) =>
    all.map(({ name }) => `${module.replace(/\.js$/, "")}:${name}`),
  );
  const world = new LargeWorld(new Transactions(deployment, { class: "d2048" }));
  await world.line.open();
  const overview = query("observe:overview", { queue: queueName(0), beside: OVERVIEW_QUEUES_MAX });
  beside = usedBy(await world.transactions.run(world.line.point, overview));
  for (const [name, calls] of Object.entries(callsOf(await plantAll(world)))) {
    for (const one of calls) {
      const line = world.line.after(world.line.point);
      const call = typeof one === "function" ? await one(line) : one;
      for (let dice = 0; dice < DICE; dice += 1) {
        const begun = await world.transactions.run(line.point, call);
        if (begun.result?.ok === false) failed.push(`${name}: ${begun.result.message}`);
        worst.set(name, mostOf(worst.get(name), usedBy(begun)));
      }
    }
  }
}, 300_000);

function mostOf(one: Used | undefined, other: Used): Used {
  const fields = COLUMNS.map(([of]) => [of, Math.max(one?.[of] ?? 0, other[of])]);
  return Object.fromEntries(fields) as Used;
}

test("each registered function has its worst call, or is measured within another's", () => {
  const known = new Set([...worst.keys(), ...Object.keys(WITHIN), ...ACTIONS]);
  expect(registered.filter((name) => !known.has(name))).toEqual([]);
  expect([...known].filter((name) => !registered.includes(name))).toEqual([]);
  const callers = Object.values(WITHIN).flat();
  expect(callers.filter((name) => !worst.has(name))).toEqual([]);
});

test("none of these calls fails", () => {
  expect(failed).toEqual([]);
});

test("each reads and writes less than half of one transaction's limits", () => {
  const over = [...worst].flatMap(([name, used]) =>
    COLUMNS.filter(([of]) => used[of] >= PLATFORM_LIMITS[of] / 2).map(
      ([of, , show]) => `${name}: ${show(used[of])} ${of}`,
    ),
  );
  expect(over).toEqual([]);
});

test("an overview of as many queues as it shows reads fewer ranges than one query may", () => {
  expect(beside.databaseQueries * OVERVIEW_QUEUES_MAX).toBeLessThan(
    PLATFORM_LIMITS.databaseQueries,
  );
});

test("docs/internals/bounds.md has each function's largest reads and writes", async () => {
  if (process.env["BOUNDS_WRITE"] !== undefined) {
    const page = pageOf(worst, WITHIN);
    writeFileSync(
      PAGE,
      await prettier.format(page, { ...(await prettier.resolveConfig(PAGE)), parser: "markdown" }),
    );
  }
  const said = saidIn(readFileSync(PAGE, "utf8"));
  expect([...said.keys()].sort()).toEqual([...worst.keys()].sort());
  const wrong = [...worst].flatMap(([name, used]) =>
    COLUMNS.flatMap(([of, column], i) => {
      const cell = said.get(name)![i]!;
      const most = of.startsWith("bytes") ? cell * 2 ** 20 : cell;
      // More than that is wrong, and so is far less: the page would say nothing.
      const isRight =
        used[of] <= most * 1.001 && most <= 2 * rounded(of, used[of]) + rounded(of, 1);
      return isRight ? [] : [`${name}, ${column}: said ${cell}, is ${used[of]}`];
    }),
  );
  expect(wrong).toEqual([]);
});

/** The numbers of each row. */
function saidIn(page: string): Map<string, number[]> {
  const rows = page.matchAll(/^\| `([\w:/]+)`\s*\|(( +[\d,.]+ \|){5})/gm);
  return new Map(
    [...rows].map(([, name, cells]) => [
      name!,
      cells!
        .split("|")
        .slice(0, COLUMNS.length)
        .map((cell) => Number(cell.replaceAll(",", ""))),
    ]),
  );
}
