/** Source files as text, for tests of their imports and declarations. Paths are from the root. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "./paths.js";

/** The files of the repository, those that are not committed yet included, with paths that match. */
export function repositoryFiles(matching = /./): string[] {
  return execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\n")
    .filter((file) => matching.test(file) && existsSync(path.join(root, file)));
}

/** The paragraphs of a file's header comment, each in one line; none without a header. */
export function headerOf(file: string): string[] {
  const header = /^\/\*\*[\s\S]*?\*\//.exec(readFileSync(path.join(root, file), "utf8"))?.[0] ?? "";
  return header
    .replace(/^\/\*\*|\*\/$/g, "")
    .replace(/^ \* ?/gm, "")
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replace(/\s+/g, " ").trim())
    .filter((paragraph) => paragraph !== "");
}

/** A file without its comments, which hold examples with other imports. */
export function codeOf(file: string): string {
  const text = readFileSync(path.join(root, file), "utf8");
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}

/** Relative imports of a file, as paths from the root without their ending. */
export function importsOf(file: string): string[] {
  return [...codeOf(file).matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]*)"/g)].map(([, specifier]) =>
    path.join(path.dirname(file), specifier!).replace(/\.(js|ts|tsx)$/, ""),
  );
}

/** Links of a page into the repository, and to its own headings. */
export function linksOf(file: string): string[] {
  const text = readFileSync(path.join(root, file), "utf8");
  return [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link]) => link!);
}
