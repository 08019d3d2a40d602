/** Source files as text, for tests of their imports and declarations. Paths are from the root. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { root } from "./paths.js";

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
