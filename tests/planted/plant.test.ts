/** The kinds of changes, on a small file: each fits its function by name, however that is laid out. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import type { Change } from "./change.js";
import { planted } from "./plant.js";

const SOURCE = `
import { other } from "./other.js";
export const LIMIT = 5;
/** A comment: if (isPaused) return. */
export async function take(ctx: Ctx, { isPaused }: Queue) {
  if (isPaused || ctx.n > LIMIT) return null; // wait
  const n = await count(ctx.db);
  await ctx.db.insert("jobs", { n, seq: 1n });
  if (n > 0) await ctx.db.insert("alarms", { n });
  return n;
}
export const sweep = internalMutation({ args: {}, handler: async (ctx) => await take(ctx, other) });
class Loop {
  private n = 0;
  isOver() { return this.n > 1; }
}
`;

const folder = mkdtempSync(path.join(tmpdir(), "planted-"));
const file = path.join(folder, "small.ts");
writeFileSync(file, SOURCE);

/** The lines that are new. */
function plant(change: Change): string {
  const text = planted([{ name: "the bug", changes: [change] }], [folder]).get(file)!;
  const old = new Set(SOURCE.split("\n"));
  return text
    .split("\n")
    .filter((line) => !old.has(line))
    .map((line) => line.replace(/\s+/g, " ").trim())
    .filter((line) => !/^}?$/.test(line))
    .join("\n");
}

test.each<[string, Change, string]>([
  [
    "a whole function",
    { in: "small.ts:Loop.isOver", returns: "false" },
    "isOver() { return false; }",
  ],
  [
    "the handler of a registered function",
    { in: "small.ts:sweep", returns: "null" },
    "export const sweep = internalMutation({ args: {}, handler: async (ctx) => { return null; } });",
  ],
  [
    "the beginning",
    { in: "small.ts:take", begins: "if (ctx.n === 0) return 1;" },
    "export async function take(ctx: Ctx, { isPaused }: Queue) { if (ctx.n === 0) return 1;",
  ],
  [
    "a call that is a statement",
    { in: "small.ts:take", without: "insert", with: '"alarms"' },
    "if (n > 0) {}",
  ],
  ["a call in an expression", { in: "small.ts:take", without: "count" }, "const n = undefined;"],
  [
    "a call that gives something else",
    { in: "small.ts:take", call: "count", gives: "1 + $it" },
    "const n = (1 + await count(ctx.db));",
  ],
  [
    "an operand of a condition",
    { in: "small.ts:take", condition: "isPaused", is: false },
    "if ((false) || ctx.n > LIMIT) return null; // wait",
  ],
  [
    "the condition that has all words",
    { in: "small.ts:take", condition: "isPaused LIMIT", is: "ctx.n > 1" },
    "if ((ctx.n > 1)) return null; // wait",
  ],
  ["a constant of the file", { in: "small.ts", value: "LIMIT", is: 6 }, "export const LIMIT = 6;"],
  [
    "a property",
    { in: "small.ts:take", value: "seq", is: "2n" },
    'await ctx.db.insert("jobs", { n, seq: 2n });',
  ],
  [
    "tokens, however they are laid out",
    { in: "small.ts:take", from: "if (\n n >0,) await", to: "await" },
    'await ctx.db.insert("alarms", { n });',
  ],
  ["a declaration", { in: "small.ts", adds: "export const more = 1;" }, "export const more = 1;"],
])("%s is changed", (_, change, expected) => {
  expect(plant(change)).toBe(expected);
});

test.each<[string, Change, RegExp]>([
  ["a file that is not there", { in: "none.ts:take", returns: "1" }, /no such file/],
  ["a function that is not there", { in: "small.ts:give", returns: "1" }, /no such function/],
  ["no place", { in: "small.ts:take", without: "patch" }, /no place matches/],
  ["two places", { in: "small.ts:take", without: "insert" }, /2 places match/],
  [
    "code that cannot be parsed",
    { in: "small.ts:take", value: "seq", is: "2n 3" },
    /No valid code/,
  ],
])("%s: the error names the bug and the function", (_, change, why) => {
  expect(() => plant(change)).toThrow(why);
  expect(() => plant(change)).toThrow(/"the bug".*small\.ts|"the bug".*none\.ts/);
});

test("each place, or the one of a number", () => {
  const change = { in: "small.ts:take", without: "insert" };
  expect(plant({ ...change, each: true })).toBe("if (n > 0) {}");
  expect(plant({ ...change, nth: 2 })).toBe("if (n > 0) {}");
});
