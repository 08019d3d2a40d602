/** The figures of `docs/internals/choices/compared-surface.md` are right. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/paths.js";
import { comparedPage, PAGE, taskOf } from "../../scripts/compared.js";

const compared = path.join(root, "docs/internals/choices/compared");

test("the page has the figures of the snippets", async () => {
  expect(readFileSync(PAGE, "utf8")).toBe(await comparedPage());
});

test("every task of every system names the library's names that its code has", () => {
  const wrong = readdirSync(compared, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: system }) =>
      readdirSync(path.join(compared, system)).map((task) => ({
        system,
        task,
        ...taskOf(system, task),
      })),
    )
    .filter(({ absent, hosted, names, unfounded }) =>
      (absent ?? hosted) === undefined ? names.length === 0 || unfounded.length > 0 : false,
    );
  expect(wrong).toEqual([]);
});
