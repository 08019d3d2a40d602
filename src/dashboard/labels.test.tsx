/** The texts of the dashboard: an app can replace each, and no component has one of its own. */
import { screen } from "@testing-library/react";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { Dashboard, DEFAULT_LABELS } from "./index.js";
import { labelsWith } from "./labelOverrides.js";
import { queueOf } from "./testing/fixtures.js";
import { api, withBackend } from "./testing/show.js";

const world = withBackend();

test("an app's texts stand in the place of the defaults, and the other texts stay", async () => {
  world.backend.queries["dashboard:overview"] = () => ({ queues: [queueOf("tiles")] });
  const labels = {
    page: { queues: "Warteschlangen" },
    statuses: { timedOut: "Abgelaufen" },
    overview: { jobsPerMinute: (value: number) => `${value} Jobs/Minute` },
    queue: { oldest: "Seit {time} wartend" },
  };
  world.show(<Dashboard api={api} labels={labels} />);
  expect(await screen.findByRole("heading", { name: "Warteschlangen" })).toBeTruthy();
  expect(await screen.findByRole("link", { name: /Abgelaufen/ })).toBeTruthy();
  expect(screen.getByText("40 Jobs/Minute")).toBeTruthy();
  expect(screen.getByText(/^Seit \d.* wartend$/)).toBeTruthy();
  expect(screen.getByRole("link", { name: "Workers" })).toBeTruthy();
  expect(screen.queryByText("Timed out")).toBeNull();
});

test("an undefined text is the default", () => {
  const labels = { statuses: { failed: undefined } } as unknown as Parameters<typeof labelsWith>[0];
  expect(labelsWith(labels).statuses).toEqual(DEFAULT_LABELS.statuses);
  expect(labelsWith()).toEqual(DEFAULT_LABELS);
});

describe("no component has a text of its own", () => {
  test("the rule finds text, names for screen readers, and texts in expressions", () => {
    const code = `
      const A = ({ n }) => <p title="Jobs" className="cv-view cv-wide">Some text {n > 1 ? "jobs" : n}</p>;
      const B = () => <button aria-label={isOpen ? "Close" : "Open"} onClick={() => go("there")} />;
      const words = \`The queue \${name} is gone\`;
      const fine = () => { throw new Error("This is for the developer."); };`;
    expect(textsIn("x.tsx", code)).toEqual([
      "Jobs",
      "Some text",
      "jobs",
      "Close",
      "Open",
      "The queue  is gone",
    ]);
  });

  const folder = path.join(import.meta.dirname);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.|^testing/.test(file))
    .filter(
      (file) => !["labels.ts", "settingLabels.ts", "workerLabels.ts", "words.ts"].includes(file),
    );

  test.each(files)("%s", (file) => {
    expect(textsIn(file, readFileSync(path.join(folder, file), "utf8"))).toEqual([]);
  });
});

/** Attributes that a reader sees or hears, of elements and of the dashboard's own components. */
const SPOKEN =
  /^(aria-(label|description|valuetext)|title|placeholder|alt|label|described|verb|words|gist|note|heading|text)$/;

/** Two words beside each other are a sentence, and no name in code. */
const SENTENCE = /[A-Za-z]{2,} [a-z]{2,}/;
const LETTER = /\p{L}{2}/u;

/** The texts of a file that a reader would see. */
function textsIn(file: string, code: string): string[] {
  const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isJsxText(node)) {
      if (LETTER.test(node.text)) found.push(node.text.trim());
    } else if (ts.isJsxAttribute(node)) {
      const name = node.name.getText();
      if (name === "className") return;
      if (SPOKEN.test(name) && node.initializer) found.push(...valuesOf(node.initializer));
      else ts.forEachChild(node, visit);
    } else if (ts.isJsxExpression(node) && !ts.isJsxAttribute(node.parent)) {
      const texts = valuesOf(node);
      found.push(...texts);
      if (texts.length === 0) ts.forEachChild(node, visit);
    } else if (ts.isNewExpression(node) && node.expression.getText() === "Error") {
      return;
    } else if (isText(node)) {
      const text = textOf(node);
      if (SENTENCE.test(text) && !text.startsWith("cv-")) found.push(text);
    } else ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

type Text = ts.StringLiteralLike | ts.TemplateExpression;
const isText = (node: ts.Node): node is Text =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);

const textOf = (node: Text): string =>
  ts.isTemplateExpression(node)
    ? [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join("")
    : node.text;

/** The literal texts that an expression may have for its value. */
function valuesOf(node: ts.Node): string[] {
  if (isText(node)) return LETTER.test(textOf(node)) ? [textOf(node)] : [];
  if (ts.isConditionalExpression(node)) {
    return [node.whenTrue, node.whenFalse].flatMap(valuesOf);
  }
  if (ts.isBinaryExpression(node)) return [node.left, node.right].flatMap(valuesIn(node));
  if (ts.isJsxExpression(node) || ts.isParenthesizedExpression(node)) {
    return node.expression === undefined ? [] : valuesOf(node.expression);
  }
  return [];
}

/** A comparison has no text for its value, and neither has the condition of `&&`. */
const valuesIn = (node: ts.BinaryExpression) => (side: ts.Expression) => {
  const { kind } = node.operatorToken;
  const isSum = kind === ts.SyntaxKind.PlusToken;
  const isElse = kind === ts.SyntaxKind.BarBarToken || kind === ts.SyntaxKind.QuestionQuestionToken;
  const isThen = kind === ts.SyntaxKind.AmpersandAmpersandToken && side === node.right;
  return isSum || isElse || isThen ? valuesOf(side) : [];
};
