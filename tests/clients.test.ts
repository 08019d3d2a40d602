/** Clients in other languages know the protocol's page alone: their copies of its numbers are the code's. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import * as limits from "../src/shared/limits.js";
import { Rules } from "../clients/conformance/rules.js";
import { COMPONENT_VERSION, WORKER_PROTOCOL } from "../src/shared/index.js";
import { root } from "./support/paths.js";
import { importsOf, repositoryFiles } from "./support/sources.js";

const read = (file: string) => readFileSync(path.join(root, file), "utf8");
const python = (file: string) => read(`clients/python/${file}`);

test("clients import nothing of the repository but the package by its name", () => {
  const wrong = repositoryFiles(/^clients\/.*\.[jt]s$/).filter((file) =>
    importsOf(file).some((target) => !target.startsWith("clients/")),
  );
  expect(wrong).toEqual([]);
});

test("the Python worker's limits are the component's", () => {
  const assigned = python("convex_conveyor/limits.py").matchAll(/^([A-Z_]+) = ([\d_ *+-]+)$/gm);
  const own = new Map([...assigned].map(([, name, value]) => [name!, computed(value!)]));
  expect(own.get("PROTOCOL")).toBe(WORKER_PROTOCOL);
  expect(own.get("PROGRESS_MAX_BYTES")).toBe(limits.PROGRESS_MAX_BYTES);
  const names: Record<string, string> = {
    LABELS_MAX: "OFFERED_LABELS_MAX",
    GROUPS_MAX: "CLAIM_GROUPS_MAX",
    BEATS_PER_LEASE: "HEARTBEATS_PER_LEASE",
  };
  const shared = limits as unknown as Record<string, number>;
  const compared = [...own].flatMap(([name, value]) => {
    const there = shared[names[name] ?? name];
    return there === undefined ? [] : [{ name, value, there }];
  });
  expect(compared.length).toBeGreaterThan(18);
  expect(compared.filter(({ value, there }) => value !== there)).toEqual([]);
});

/** Of a difference of products of powers. */
function computed(expression: string): number {
  const number = (text: string) => Number(text.replaceAll("_", ""));
  const power = (text: string) => {
    const [base, exponent = "1"] = text.split("**");
    return number(base!) ** number(exponent);
  };
  const product = (text: string) => text.split(" * ").reduce((all, one) => all * power(one), 1);
  const [first, ...rest] = expression.split(" - ").map(product);
  return rest.reduce((all, one) => all - one, first!);
}

test("the Python worker stops at the same codes as the Node worker", () => {
  const codes = (text: string, name: string) =>
    [...new RegExp(`${name}[^\\[]*= [^\\[]*\\[([^\\]]*)\\]`).exec(text)![1]!.matchAll(/"(\w+)"/g)]
      .map(([, code]) => code!)
      .sort();
  const node = read("src/worker/errors.ts").replaceAll("[] =", "=");
  const own = python("convex_conveyor/errors.py");
  expect(codes(own, "UNSERVED")).toEqual(codes(node, "UNSERVED"));
  // Of a deployment without the functions, which Node has as an error of its own.
  expect(codes(own, "FATAL")).toEqual([...codes(node, "FATAL"), "workerApiMissing"].sort());
});

test("the Python package has the version of the npm package", () => {
  for (const file of ["pyproject.toml", "convex_conveyor/__init__.py"]) {
    expect(/^(?:__)?version(?:__)? = "(.*)"$/m.exec(python(file))?.[1]).toBe(COMPONENT_VERSION);
  }
  expect(python("convex_conveyor/http.py")).toContain(`"conveyor-python-${COMPONENT_VERSION}"`);
});

test("the conformance script names each rule that a message breaks", () => {
  const rules = new Rules(1);
  const [first, second] = [
    { id: "a", attempt: 1 },
    { id: "a", attempt: 2 },
  ];
  const held = { ...first, renewedAt: Date.now() - 5_000, job: { leaseMs: 1_000 } };
  rules.leased(first);
  rules.begun(first, undefined);
  rules.checkLeases([held]);
  rules.toldLost(first);
  rules.checkOutcome({ ...first, queue: "q", outcome: { kind: "succeeded" } }, "q");
  rules.leased(second);
  rules.begun(second, { ...held, ...second });
  rules.unanswered(1, { n: 1, max: 1 });
  rules.checkRepeat(1, { n: 1, max: 2 });
  rules.checkReport({ logs: [], output: [{ ...second, index: 1, text: "late" }] });
  rules.checkGoodbye({ leaving: 3, last: 3, held: 1 });
  expect([...rules.broken]).toEqual([
    "the lease of a was not renewed within its 1000 ms",
    "the result of a lost attempt is dropped; a#1 was sent",
    "a handler has begun a#2 after its lease was over",
    "two handlers of a ran at once",
    "more than 1 handlers ran at once",
    "call 1 had no answer, and its repeat has other arguments",
    "part a#2 has no gaps: 1 came before 0",
    "a goodbye's number is above all calls, 3; it had 3",
    "a goodbye comes when no lease is held",
  ]);
});
