/** Sentences of the repository: in comments, titles of tests, Markdown, and on the screen. */
import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { root } from "./paths.js";

export interface Sentence {
  /** From the root. */
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** Words that are nobody in particular: a sentence with one of them names no thing that acts. */
const PRONOUN =
  /\b(who|whoever|whom|whose|what|whatever|nobody|somebody|anybody|everybody|those|others)\b/i;

export function namesNoThing({ text }: Sentence): boolean {
  return PRONOUN.test(text);
}

/** Of a source file or a page of Markdown. */
export function sentencesOf(file: string): Sentence[] {
  const text = readFileSync(path.join(root, file), "utf8");
  const passages = file.endsWith(".md")
    ? ofPage(text)
    : file.endsWith(".py")
      ? ofPython(text)
      : ofSource(file, text);
  const lineAt = linesOf(text);
  return passages.flatMap(({ at, prose }) => {
    const line = lineAt(at);
    return split(prose).map((sentence) => ({ file, line, text: sentence }));
  });
}

interface Passage {
  at: number;
  prose: string;
}

function ofSource(file: string, text: string): Passage[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const passages = new Map<number, Passage>();
  const put = (at: number, prose: string) => passages.set(at, { at, prose });
  const marks = [...text.matchAll(/\/[/*]/g)].map(({ index }) => index);
  // Tokens are nodes too: a comment may be in front of a bracket. To make them takes long, and most of a file has no comment.
  const visitTokens = (node: ts.Node): void => {
    const first = node.getFullStart();
    if (!marks.some((mark) => mark >= first && mark < node.end)) return;
    for (const range of ts.getLeadingCommentRanges(text, first) ?? [])
      put(range.pos, withoutMarks(text.slice(range.pos, range.end)));
    for (const child of node.getChildren(source)) visitTokens(child);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isJsxText(node)) put(node.pos, node.text);
    if (
      ts.isCallExpression(node) &&
      /^(test|it|describe)\b/.test(node.expression.getText(source))
    ) {
      const [title] = node.arguments;
      if (title !== undefined && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title)))
        put(title.pos, title.getText(source).slice(1, -1));
    }
    ts.forEachChild(node, visit);
  };
  visitTokens(source);
  visit(source);
  return joined(
    text,
    [...passages.values()].sort((a, b) => a.at - b.at),
  );
}

/** Docstrings, and lines of comments that follow one another. */
function ofPython(text: string): Passage[] {
  const found = text.matchAll(/"""([\s\S]*?)"""|(?:^[^"'\n#]*#[^\n]*\n)+/gm);
  return [...found].map(({ index, 0: all, 1: docstring }) => ({
    at: index,
    prose: docstring ?? all.replace(/^[^#\n]*#:?/gm, ""),
  }));
}

/** Lines of `//` that follow one another are one passage. */
function joined(text: string, passages: readonly Passage[]): Passage[] {
  const all: Passage[] = [];
  let end = -1;
  for (const { at, prose } of passages) {
    const isLine = text.startsWith("//", at);
    const last = all.at(-1);
    if (isLine && last !== undefined && end >= 0 && text.slice(end, at).trim() === "")
      last.prose += ` ${prose}`;
    else all.push({ at, prose });
    end = isLine ? text.indexOf("\n", at) : -1;
  }
  return all;
}

function withoutMarks(comment: string): string {
  return comment
    .replace(/^\/\*\*?|\*\/$/g, "")
    .replace(/^\s*(\/\/|\*)/gm, "")
    .replace(/```[\s\S]*?```/g, "");
}

function ofPage(text: string): Passage[] {
  const blank = (part: string) => part.replace(/[^\n]/g, " ");
  const prose = text.replace(/```[\s\S]*?```/g, blank).replace(/<!--[\s\S]*?-->/g, blank);
  const passages: Passage[] = [];
  let at = 0;
  for (const part of prose.split(/(\n\s*\n|\n(?=\s*[-|#*]|\s*\d+\. )|\|)/)) {
    passages.push({ at, prose: part });
    at += part.length;
  }
  return passages;
}

function split(prose: string): string[] {
  return prose
    .split(/\n\s*\n/)
    .flatMap((paragraph) => paragraph.replace(/\s+/g, " ").split(/(?<=[.:;!?])\s+/))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence.split(" ").length > 1);
}

/** The line of a position's first word, for positions that are asked for in their order. */
function linesOf(text: string): (at: number) => number {
  let line = 1;
  let end = text.indexOf("\n");
  return (at) => {
    const first = at + text.slice(at).search(/\S|$/);
    for (; end >= 0 && end < first; end = text.indexOf("\n", end + 1)) line += 1;
    return line;
  };
}
