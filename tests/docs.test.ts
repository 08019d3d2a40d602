/** The documents are true: features have their tests, edges their arrows, functions their rows. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "./support/paths.js";
import { linksOf, repositoryFiles } from "./support/sources.js";
import { componentModules } from "../scripts/support/testBuild.js";
import {
  EDGES,
  ERROR_CODES,
  LEASE_DEFAULT_MS,
  INLINE_TIMEOUT_MAX_MS,
  LOG_EVENTS,
  MAX_RESETS_DEFAULT,
  PARALLELISM_DEFAULT,
  PLACES_BY_CLASS,
  LANE_WIDTH,
  next,
  PROCESS_WIDTH,
  PROCESSES_BY_CLASS,
  PUSH_TIMEOUT_DEFAULT_MS,
  PUSH_TIMEOUT_MAX_MS,
  RETENTION_DEFAULT,
  RETRY_DEFAULT,
  SHARDS_DEFAULT,
} from "../src/shared/index.js";
import { GRACE_DEFAULT_MS } from "../src/worker/limits.js";
import { referencePages } from "../scripts/reference.js";
import {
  astray,
  citations,
  requirements,
  tableRows,
  unfounded,
  unshown,
  type Requirement,
} from "./citations.js";

/** Numbers from 1 on, or the given ones, each with the letters before it. */
const upTo = (letters: string, last: number) =>
  Array.from({ length: last }, (_, at) => `${letters}-${String(at + 1).padStart(2, "0")}`);
const these = (letter: string, ...numbers: number[]) => numbers.map((n) => `${letter}${n}`);
const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at);

/** Every feature of the five systems that this one grew from, and the necessary ones of a queue. */
const FEATURES = [
  ...upTo("LF", 42),
  ...upTo("DE", 25),
  ...upTo("CR", 18),
  ...upTo("SG", 49),
  ...upTo("WP", 40),
  ...these("A", ...range(1, 11), 17, 19, 21, 22, 24, 25),
  ...these("B", 1, 2, 5, 6),
  ...these("C", ...range(1, 28), 30, 31),
  ...these("D", ...range(1, 25)),
  ...these("E", ...range(1, 3), ...range(6, 15), 18),
  ...these("F", ...range(1, 21), ...range(23, 26)),
  ...these("G", 1, 2, 4, ...range(6, 8), ...range(10, 12), 15),
  ...these("H", 1, 2, 4, 5, 7, ...range(10, 15), 17, 18),
  ...these("I", 2),
  ...these("J", 6),
  ...these("K", ...range(1, 4), ...range(6, 8), ...range(10, 12), 14, ...range(16, 18), 21),
  ...these("L", ...range(1, 10)),
  ...these("M", ...range(1, 3), ...range(5, 9)),
  ...these("N", 1, ...range(4, 10)),
  ...these("O", ...range(1, 3), 8),
];

/** The known faults of such a queue: defects of a design, some of several kinds, and slips of the implementation. */
const HAZARDS = [
  ...these("D", ...range(1, 5)),
  ...["a", "b", "c", "d", "e", "f"].map((kind) => `D6${kind}`),
  ...["D7a", "D7b"],
  ...these("D", ...range(8, 30)),
  ...["D31a", "D31b", "D31c"],
  ...these("D", 32, 33, 34),
  ...these("P", ...range(1, 30)),
];

const PROCESS_STATES = ["free", "open", "receiving"] as const;
const PROCESS_EVENTS = [
  ...(["start", "startLast", "handOver", "close", "closeInVain", "lose"] as const),
];

/** Parts that are missing, by the names that `tests/requirements/features.md` explains. */
const MISSING =
  /\bnot here: (flow control|bring your own table|operations|schedules|workflows|faults in tests)\b/;

const testFiles = repositoryFiles(/\.test\.tsx?$|^tests\/(interleavings\/pairs|readme)\/.*\.ts$/);

describe("tests/requirements/features.md", () => {
  const rows = tableRows("tests/requirements/features.md");

  test("has every feature once, and no other", () => {
    expect(rows.map(([id]) => id)).toEqual(FEATURES);
  });

  test("describes each feature, and cites a test for it or names the missing part", () => {
    const silent = rows.filter(
      ([, , here = "", shownBy = ""]) => citations(shownBy).length === 0 && !MISSING.test(here),
    );
    expect(silent.map(([id]) => id)).toEqual([]);
    expect(rows.filter(([, what, here]) => !what || !here).map(([id]) => id)).toEqual([]);
  });

  test("a missing feature cites no test, and every mention of a missing part has a name", () => {
    const wrong = rows.filter(
      ([, , here = "", shownBy = ""]) =>
        (here.startsWith("not here: ") && citations(shownBy).length > 0) ||
        (/\bnot here\b/.test(here) && !MISSING.test(here)),
    );
    expect(wrong.map(([id]) => id)).toEqual([]);
  });

  test("cites tests that are there, by their titles", () => {
    expect(rows.flatMap(([, , , shownBy = ""]) => unfounded(shownBy))).toEqual([]);
  });

  test("cites tests that touch a name of their row, or have its id in a comment", () => {
    const all = requirements("tests/requirements/features.md");
    expect(unshown(all, "Shows")).toEqual([]);
    expect(astray(testFiles, all, "Shows")).toEqual([]);
  });
});

describe("tests/requirements/hazards.md", () => {
  const rows = tableRows("tests/requirements/hazards.md");

  test("has each hazard once, with its description and its remedy", () => {
    expect(rows.map(([id]) => id)).toEqual(HAZARDS);
    expect(rows.filter(([, what, here]) => !what || !here).map(([id]) => id)).toEqual([]);
  });

  test("cites a test for each, by its title, or names the missing part", () => {
    const silent = rows.filter(
      ([, , here = "", shownBy = ""]) =>
        citations(shownBy).length === 0 && !(here.startsWith("not here: ") && MISSING.test(here)),
    );
    expect(silent.map(([id]) => id)).toEqual([]);
    expect(rows.flatMap(([, , , shownBy = ""]) => unfounded(shownBy))).toEqual([]);
  });

  test("cites tests that touch a name of their row, or have its id in a comment", () => {
    const all = requirements("tests/requirements/hazards.md");
    expect(unshown(all, "Rules out")).toEqual([]);
    expect(astray(testFiles, all, "Rules out")).toEqual([]);
  });
});

describe("a row with a test that does not show it is found", () => {
  const file = "src/client/queue.test.ts";
  const title = "a job belongs to its transaction: if that throws, there is none";
  /** A row that cites that test, which has the ids LF-05, SG-49 and A1, and touches `enqueueAndThrow`. */
  const planted = (id: string, here: string): Requirement[] => [
    { id, here, shownBy: [{ file, title }] },
  ];

  test.each([
    ["names what the test does not touch", "Z-01", "yes: `fallbackAfterMs`"],
    ["names a plain word, which the test has by chance", "Z-01", "yes: `mutation`, `pending`"],
    ["names nothing, and has another id", "Z-01", "yes"],
    ["has an id that is the beginning of one there", "A", "yes"],
  ])("one that %s", (_, id, here) => {
    expect(unshown(planted(id, here), "Shows")).toEqual([
      expect.stringContaining(`${id}: the test "${title}" of ${file} neither `),
    ]);
  });

  test("also where the same id is one of another table's", () => {
    expect(unshown(planted("A1", "yes"), "Rules out")).toHaveLength(1);
  });

  test.each([
    ["has a name that the test touches", "Z-01", "yes: `enqueueAndThrow`"],
    ["has its id there", "A1", "yes"],
  ])("and one that %s is none of these", (_, id, here) => {
    expect(unshown(planted(id, here), "Shows")).toEqual([]);
  });

  test("and so is an id in a comment where no row cites a test of its file", () => {
    const ids = ["LF-05", "SG-49", "A1"];
    for (const left of ids) {
      const rows = ids.filter((id) => id !== left).flatMap((id) => planted(id, "yes"));
      const found = astray([file], rows, "Shows");
      expect(found).toContain(
        `${file}: "Shows ${left}", and the row ${left} cites no test of that file`,
      );
      expect(found.join()).not.toContain(`"Shows ${ids.find((id) => id !== left)!}"`);
    }
  });
});

test("docs/reference/events.md has every event of the log, with all its fields and no other", () => {
  const rows = tableRows("docs/reference/events.md").map(([event = "", , fields = ""]) => [
    event.replaceAll("`", ""),
    [...fields.matchAll(/`(\w+\??)`/g)].map(([, name]) => name!).sort(),
  ]);
  const events = Object.entries(LOG_EVENTS).map(([event, { fields }]) => [
    event,
    Object.entries(fields)
      .map(([name, { isOptional }]) => (isOptional === "optional" ? `${name}?` : name))
      .sort(),
  ]);
  expect(rows).toEqual(events);
});

const documents = repositoryFiles(/\.md$|(^|\/)llms\.txt$/);

test.each(["options.md", "limits.md"])("docs/reference/%s is as the code", async (page) => {
  const written = readFileSync(path.join(root, "docs/reference", page), "utf8");
  expect(written).toBe((await referencePages())[page]);
});

test("the page of errors has every code, and no other", () => {
  const codes = tableRows("docs/reference/errors.md").map(([code = ""]) =>
    code.replaceAll("`", ""),
  );
  expect(codes).toEqual([...ERROR_CODES]);
});

test("every fence of a document closes: text behind an open one is shown as code", () => {
  const wrong = documents.filter((file) => {
    const text = readFileSync(path.join(root, file), "utf8");
    const fences = text.match(/^ *`{3,}.*$/gm) ?? [];
    const isGood = (fence: string, at: number) =>
      (at % 2 === 1 ? /^ *`{3}$/ : /^ *`{3}\w+$/).test(fence);
    return fences.length % 2 === 1 || !fences.every(isGood);
  });
  expect(wrong).toEqual([]);
});

test("every link of a document leads to a file that is there, and to a heading of it", () => {
  const broken = documents.flatMap((file) =>
    linksOf(file)
      .filter((link) => !leads(file, link))
      .map((link) => `${file}: ${link}`),
  );
  expect(broken).toEqual([]);
});

function leads(from: string, link: string): boolean {
  const [target = "", heading] = link.split("#");
  const file = target === "" ? from : path.join(path.dirname(from), target);
  if (!existsSync(path.join(root, file))) return false;
  if (heading === undefined) return true;
  const headings = readFileSync(path.join(root, file), "utf8").match(/^#+ .*$/gm) ?? [];
  return headings.some((line) => anchorOf(line) === heading);
}

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string) =>
  heading
    .replace(/^#+ /, "")
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

test("the page of defaults names the defaults that the code has", () => {
  const cells = new Map(
    tableRows("docs/reference/defaults.md").map(([of, is, by]) => [of!, `${is} ${by}`]),
  );
  const says = (of: RegExp, what: string) => {
    const found = [...cells].find(([name]) => of.test(name));
    expect(found?.[1]).toContain(what);
  };
  const { maxAttempts, initialBackoffMs, base, maxBackoffMs } = RETRY_DEFAULT;
  says(/^retries/, `${maxAttempts} attempts, ${initialBackoffMs / 1_000} s × ${base}^(n−1)`);
  expect(maxBackoffMs).toBe(60 * 60_000);
  says(/^lease/, `${LEASE_DEFAULT_MS / 1_000} s`);
  says(/^lost workers/, `${MAX_RESETS_DEFAULT} `);
  says(/^order/, `(${SHARDS_DEFAULT}; in a ring 1)`);
  says(/^handlers/, `${GRACE_DEFAULT_MS / 1_000} s`);
  const { succeededMs, canceledMs, failedMs, timedOutMs } = RETENTION_DEFAULT;
  const days = [succeededMs, canceledMs, failedMs, timedOutMs].map((ms) => ms / 86_400_000);
  expect(days).toEqual([1, 1, 7, 7]);
  says(/^finished jobs/, "a day if succeeded or canceled, seven days if failed or timed out");
});

test("the pages of push queues and of defaults name the code's bounds", () => {
  const text = ["docs/guides/push.md", "docs/reference/defaults.md"]
    .map((file) => readFileSync(path.join(root, file), "utf8"))
    .join("\n");
  const minutes = (ms: number) => ms / 60_000;
  const [most, asked, inline] = [
    PUSH_TIMEOUT_MAX_MS,
    PUSH_TIMEOUT_DEFAULT_MS,
    INLINE_TIMEOUT_MAX_MS,
  ];
  for (const words of [
    `at once inside Convex | ${PARALLELISM_DEFAULT} `,
    `| ${minutes(asked)} minutes; at most ${minutes(most)}, inline ${minutes(inline)} `,
    `at most ${PROCESSES_BY_CLASS["s16"]} of the 8 functions`,
    `${PROCESSES_BY_CLASS["s256"]} on S256`,
    `${PLACES_BY_CLASS["s16"]!.any} and ${PLACES_BY_CLASS["s256"]!.any} jobs that are actions`,
    `runs up to ${LANE_WIDTH} jobs at once and takes the next as they end`,
    `a crash of it ends the attempts in it, ${PROCESS_WIDTH} at most`,
  ]) {
    expect(text).toContain(words);
  }
});

describe("src/component/README.md", () => {
  const text = readFileSync(path.join(root, "src/component/README.md"), "utf8");

  // Shows N10.
  test("draws every edge of the state machine, with its counts, and no other", () => {
    const drawn = [...text.matchAll(/^ {4}(\w+) --> (\w+): (\w+)(?: \((\w+) \+ 1\))?$/gm)].map(
      ([, from, to, edge, counts]) => ({ edge, from, to, ...(counts && { counts }) }),
    );
    const edges = Object.entries(EDGES).flatMap(([edge, { from, to, ...rest }]) =>
      from.map((status) => ({
        edge,
        from: status,
        to,
        ...("counts" in rest && { counts: rest.counts }),
      })),
    );
    const sorted = (list: object[]) => list.map((one) => JSON.stringify(one)).sort();
    // `timeOut` counts a reset or a failure, as the case may be.
    expect(sorted(drawn)).toEqual(sorted(edges));
  });
});

// Shows N10.
test("docs/internals/architecture.md draws the main loop as its table is", () => {
  const text = readFileSync(path.join(root, "docs/internals/architecture.md"), "utf8");
  const drawing = text.slice(text.indexOf("## The main loop"), text.indexOf("## The invariants"));
  const drawn = [...drawing.matchAll(/^ {4}(\w+) --> (\w+): (\w+)(?: \(|$)/gm)].map(([, ...edge]) =>
    edge.join(" "),
  );
  const edges = PROCESS_STATES.flatMap((from) =>
    PROCESS_EVENTS.flatMap((event) => {
      const step = next(from, event);
      return step === null ? [] : [`${from} ${step.to} ${event}`];
    }),
  );
  expect(drawn.sort()).toEqual(edges.sort());
});

test("docs/internals/architecture.md has a step for every file of the component", () => {
  const text = readFileSync(path.join(root, "docs/internals/architecture.md"), "utf8");
  const files = componentModules().filter(
    (file) => !/^_generated|^rows\/tables|\.config\.ts$/.test(file),
  );
  expect(files.filter((file) => !text.includes(`\`${file}\``))).toEqual([]);
});
