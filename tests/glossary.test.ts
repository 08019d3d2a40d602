/** The words of `docs/glossary.md` are those of the dashboard and of the code, and the dashboard has no worse ones. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "./support/paths.js";

const read = (file: string) => readFileSync(path.join(root, file), "utf8");

interface Entry {
  readonly word: string;
  readonly meaning: string;
}

const entries: Entry[] = [...read("docs/glossary.md").matchAll(/^- \*\*([^*]+)\*\*: (.+)$/gm)].map(
  ([, word, meaning]) => ({ word: word!, meaning: meaning! }),
);

const SCREEN = ["labels", "settingLabels"]
  .map((file) => read(`src/dashboard/${file}.ts`))
  .join("\n");

/** The code of the package without tests: its comments use the words as well. */
const CODE = ["component", "shared", "worker", "client"]
  .flatMap((folder) =>
    readdirSync(path.join(root, "src", folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.tsx?$/.test(file) && !/\.test\.|_generated/.test(file))
      .map((file) => read(path.join("src", folder, file))),
  )
  .join("\n");

/** "main loop" as words, with a line break between them, or as the name `mainLoop`. */
function isUsed(word: string, text: string): boolean {
  const parts = word.split(/[ -]/);
  const inWords = new RegExp(`\\b${parts.join("(?:[ -]|\\s+\\*?\\s*)")}`, "i");
  const asName = parts.map((part, at) =>
    at === 0 ? part : part[0]!.toUpperCase() + part.slice(1),
  );
  return inWords.test(text) || text.includes(asName.join(""));
}

describe("docs/glossary.md", () => {
  test("has some 60 words, each once, in one or two sentences", () => {
    const words = entries.map(({ word }) => word);
    expect(new Set(words).size).toBe(words.length);
    expect(words.length).toBeGreaterThanOrEqual(50);
    expect(words.length).toBeLessThanOrEqual(70);
    const long = entries.filter(({ meaning }) => meaning.split(/[.?!](?= |$)/).length - 1 > 2);
    expect(long).toEqual([]);
  });

  test("has no word that neither the dashboard nor the code uses", () => {
    const unused = entries.filter(({ word }) => !isUsed(word, SCREEN) && !isUsed(word, CODE));
    expect(unused.map(({ word }) => word)).toEqual([]);
  });

  test("is linked in README.md", () => {
    expect(read("README.md")).toContain("](docs/glossary.md)");
  });

  test("has the headings of the dashboard's figures", () => {
    const words = new Set(entries.map(({ word }) => word));
    const figures = ["queue latency", "run time", "throughput", "status", "worker", "attempt"];
    for (const figure of figures) {
      expect(words).toContain(figure);
      expect(SCREEN.toLowerCase()).toContain(`"${figure}`);
    }
  });
});

test("the dashboard's texts, reasons and health have no pronoun for an actor, and no word that a glossary's word replaces", () => {
  const worse =
    /\b(who|whoever|whom|whose|what|whatever|nobody|somebody|anybody|everybody|those|others|begun|worked off|is told|goes on by itself|session|beats?)\b|\ba (second|minute|hour|day)\b/i;
  const found = [SCREEN, read("src/shared/why.ts"), read("src/shared/health.ts")].flatMap((code) =>
    [...code.matchAll(/"([^"\n]*)"|`([^`]*)`/g)]
      .map(([, plain, template]) => plain ?? template!.replace(/\$\{[^}]*\}/g, "…"))
      .filter((text) => / /.test(text) && worse.test(text)),
  );
  expect(found).toEqual([]);
});
