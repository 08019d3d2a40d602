/**
 * A sentence has a thing for its subject: a job, a lane, a file. The rule is mechanical: a sentence with *who*, *what*,
 * *nobody* or the like anywhere in it counts, and few do.
 */
import { describe, expect, test } from "vitest";
import { namesNoThing, sentencesOf } from "./support/prose.js";
import { repositoryFiles } from "./support/sources.js";

/** Of all sentences, in per cent. */
const SHARE_MAX = 5;

/** The first that a file's path matches is its area. */
const AREAS: Record<string, RegExp> = {
  component: /^src\/component\/.*\.tsx?$/,
  shared: /^src\/shared\//,
  dashboard: /^src\/(dashboard|page|react)\/.*\.tsx?$/,
  "worker and client": /^src\/.*\.tsx?$/,
  "local backend": /^local\/.*\.tsx?$/,
  tests: /^tests\/.*\.(tsx?|py)$/,
  "bench, example, clients": /^(bench|example|scripts|clients)\/.*\.(tsx?|py)$/,
  documents: /\.md$/,
};

/** Generated. */
const NOT_OURS = /\/_generated\/|^bench\/(RESULTS|figures)/;

const files = repositoryFiles(/\.(tsx?|md|py)$/).filter((file) => !NOT_OURS.test(file));
const areaOf = (file: string) => Object.keys(AREAS).find((name) => AREAS[name]!.test(file));

describe("sentences whose subject is nobody in particular", () => {
  test.each(Object.keys(AREAS))(`%s: under ${SHARE_MAX} per cent`, (area) => {
    const sentences = files.filter((file) => areaOf(file) === area).flatMap(sentencesOf);
    expect(sentences.length).toBeGreaterThan(100);
    const vague = sentences.filter(namesNoThing);
    const share = (100 * vague.length) / sentences.length;
    const list = vague.map(({ file, line, text }) => `${file}:${line}: ${text}`).join("\n");
    expect(share, list).toBeLessThan(SHARE_MAX);
  });
});

test("a sentence is found in a comment of several lines, in a title and in a page", () => {
  const found = sentencesOf("tests/words.test.ts").map(({ text }) => text);
  expect(found).toContain(
    "A sentence has a thing for its subject: a job, a lane, a file.".split(": ")[0] + ":",
  );
  expect(found).toContain("sentences whose subject is nobody in particular");
  expect(sentencesOf("README.md").length).toBeGreaterThan(100);
});
