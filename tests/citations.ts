/**
 * Tables in documents that cite tests: `file` › "title", several with a semicolon between them. A citation holds if the
 * file has a test, a group of tests or a pair of that title. In the tables of requirements that is not enough: the
 * cited test shows its row. It touches a name of the row, or a comment at it has the row's id ({@link shownIn}).
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { root } from "./support/paths.js";

export interface Citation {
  file: string;
  title: string;
}

/** A row of a table of requirements: its id, its text on what is here, and its citations. */
export interface Requirement {
  id: string;
  here: string;
  shownBy: Citation[];
}

/** The words before the ids in a test's comment: `// Shows LF-05, A1.` and `// Rules out D6a.` */
export type Word = "Shows" | "Rules out";

/** The cells of every row of the document's tables, heads and rulers left out. */
export function tableRows(document: string): string[][] {
  const lines = readFileSync(path.join(root, document), "utf8").split("\n");
  const isRuler = (line: string | undefined) => /^\|[\s:|-]+\|$/.test(line ?? "");
  return lines
    .filter((line, at) => line.startsWith("|") && !isRuler(line) && !isRuler(lines[at + 1]))
    .map((line) =>
      line
        .slice(1, line.lastIndexOf("|"))
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll("\\|", "|")),
    );
}

/** The rows of a document of requirements. */
export function requirements(document: string): Requirement[] {
  return tableRows(document).map(([id = "", , here = "", shownBy = ""]) => ({
    ...{ id, here, shownBy: citations(shownBy) },
  }));
}

/** The citations of a cell. */
export function citations(cell: string): Citation[] {
  return [...cell.matchAll(/`([^`]+)` › "((?:[^"\\]|\\.)*)"/g)].map(([, file, title]) => ({
    file: file!,
    title: title!.replace(/\\([_*"])/g, "$1"),
  }));
}

/** A cell's citations without a test, in words. */
export function unfounded(cell: string): string[] {
  return citations(cell)
    .filter((citation) => testOf(citation) === undefined)
    .map(({ file, title }) => `${file} has no "${title}"`);
}

/** The citations whose test shows nothing of their row, in words. Citations without a test are left out. */
export function unshown(rows: readonly Requirement[], word: Word): string[] {
  return rows.flatMap(({ id, here, shownBy }) => {
    const names = namesIn(here);
    return shownBy
      .map((citation) => ({ citation, test: testOf(citation) }))
      .filter(({ test }) => test !== undefined)
      .filter(({ test }) => !isShownBy(test!, { id, names, word }))
      .map(({ citation: { file, title } }) => {
        const ways = [...names.map((name) => `touches \`${name}\``), `has \`// ${word} ${id}.\``];
        return `${id}: the test "${title}" of ${file} neither ${ways.join(" nor ")}`;
      });
  });
}

/** Ids in comments of test files that no row cites there, in words. */
export function astray(
  files: readonly string[],
  rows: readonly Requirement[],
  word: Word,
): string[] {
  return files.flatMap((file) => {
    const cited = new Set(
      rows.filter((row) => row.shownBy.some((one) => one.file === file)).map(({ id }) => id),
    );
    return idsIn(readFileSync(path.join(root, file), "utf8"), word)
      .filter((id) => !cited.has(id))
      .map((id) => `${file}: "${word} ${id}", and the row ${id} cites no test of that file`);
  });
}

/** Whether a test's own code touches one of the names, or a comment in or before it has the row's id. */
function isShownBy(
  test: ts.Node,
  { id, names, word }: { id: string; names: string[]; word: Word },
): boolean {
  return idsIn(test.getFullText(), word).includes(id) || names.some((name) => touches(test, name));
}

/**
 * The names in a text's code spans that a test touches only because it is about them: the ones with a capital letter
 * inside, such as `maxResets`. A plain word, such as `status`, is in most tests.
 */
function namesIn(text: string): string[] {
  const spans = [...text.matchAll(/`([^`]+)`/g)].map(([, span]) => span!);
  const code = spans.filter((span) => !/\.(md|ts)$/.test(span)).join(" ");
  return [...new Set(code.match(/\b[A-Za-z]+[a-z\d][A-Z]\w*/g))];
}

function touches(node: ts.Node, name: string): boolean {
  if ((ts.isIdentifier(node) || ts.isStringLiteralLike(node)) && node.text === name) return true;
  return ts.forEachChild(node, (child) => touches(child, name)) ?? false;
}

/** The ids after that word in the comments of a text. */
function idsIn(text: string, word: Word): string[] {
  const comments = text.matchAll(new RegExp(`^\\s*// ${word} ([^.\\n]+)\\.$`, "gm"));
  return [...comments].flatMap(([, ids]) => ids!.split(", "));
}

const tests = new Map<string, Map<string, ts.Node>>();

/** The test, group or pair of that title, with the comments before it; undefined where there is none. */
function testOf({ file, title }: Citation): ts.Node | undefined {
  let ofFile = tests.get(file);
  if (ofFile === undefined) {
    const isThere = existsSync(path.join(root, file));
    ofFile = isThere ? testsIn(readFileSync(path.join(root, file), "utf8"), file) : new Map();
    tests.set(file, ofFile);
  }
  return ofFile.get(title);
}

/** By its title: the statement in which a title is the first argument of a call, or a pair's `of`. */
function testsIn(text: string, file: string): Map<string, ts.Node> {
  const kind = file.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, kind);
  const found = new Map<string, ts.Node>();
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && isTitle(node)) {
      let statement: ts.Node = node;
      while (!ts.isExpressionStatement(statement) && !ts.isVariableStatement(statement)) {
        if (ts.isSourceFile(statement)) return;
        statement = statement.parent;
      }
      if (!found.has(node.text)) found.set(node.text, statement);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function isTitle(node: ts.StringLiteralLike): boolean {
  const { parent } = node;
  if (ts.isCallExpression(parent) && parent.arguments[0] === node) {
    return /^(test|describe)\b/.test(parent.expression.getText());
  }
  return ts.isPropertyAssignment(parent) && parent.name.getText() === "of";
}
