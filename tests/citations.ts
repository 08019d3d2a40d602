/**
 * Tables in documents that cite tests: `file` › "title", several with a semicolon between them. A citation holds if the
 * file is there and has a test, a group of tests or a pair of that title.
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "./support/paths.js";

export interface Citation {
  file: string;
  title: string;
}

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

/** The citations of a cell. */
export function citations(cell: string): Citation[] {
  return [...cell.matchAll(/`([^`]+)` › "((?:[^"\\]|\\.)*)"/g)].map(([, file, title]) => ({
    file: file!,
    title: title!.replace(/\\([_*"])/g, "$1"),
  }));
}

const texts = new Map<string, string>();

/** A cell's citations without a test, in words. */
export function unfounded(cell: string): string[] {
  return citations(cell)
    .filter(({ file, title }) => !isFounded(file, title))
    .map(({ file, title }) => `${file} has no "${title}"`);
}

/** Whether a string literal of the file is the title. */
function isFounded(file: string, title: string): boolean {
  if (!existsSync(path.join(root, file))) return false;
  const text = texts.get(file) ?? readFileSync(path.join(root, file), "utf8");
  texts.set(file, text);
  const inTemplates = title.replaceAll("`", "\\`");
  return [`"${title}"`, `'${title}'`, `\`${inTemplates}\``].some((literal) =>
    text.includes(literal),
  );
}
