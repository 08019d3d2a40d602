/**
 * Plants bugs in sources as they are bundled. A change that finds no place, or several, throws with the name of the bug and of the
 * function: a planted bug must not turn into a second run of the sound code.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { root } from "../support/paths.js";
import type { Bug, Change } from "./change.js";
import { callsOf, conditionsOf, declarationOf, functionOf, valuesOf } from "./places.js";
import { runsOf, tokensIn, tokensOf } from "./tokens.js";

/** Folders with code in which a bug can be planted. */
const FOLDERS = ["src", "tests/simulation/app"].map((folder) => path.join(root, folder));

interface Edit {
  start: number;
  end: number;
  text: string;
}

/** The text of each changed file, by its absolute path. */
export function planted(bugs: readonly Bug[], folders = FOLDERS): Map<string, string> {
  const edits = new Map<string, Edit[]>();
  for (const { name, changes } of bugs) {
    for (const change of changes) {
      try {
        const { source, within } = placeOf(change.in, folders);
        const { fileName } = source;
        edits.set(fileName, [...(edits.get(fileName) ?? []), ...editsOf(within, source, change)]);
      } catch (error) {
        const why = (error as Error).message;
        throw new Error(`"${name}" cannot be planted in ${change.in}: ${why}. ${said(change)}`, {
          cause: error,
        });
      }
    }
  }
  return new Map([...edits].map(([file, all]) => [file, edited(file, all, bugs)]));
}

const said = (change: Change) => `The change: ${JSON.stringify(change)}`;

/** The file and the declaration. Of several files with such a name the one that has the declaration. */
function placeOf(
  place: string,
  folders: readonly string[],
): { source: ts.SourceFile; within: ts.Node } {
  const [name, declared] = place.split(":");
  const named = codeFiles(folders).filter((file) => file.endsWith(`/${name}`));
  if (named.length === 0) throw new Error("there is no such file");
  const found = named.flatMap((file) => {
    const source = parsed(file);
    const within = declared === undefined ? source : declarationOf(source, declared);
    return within === null ? [] : [{ source, within }];
  });
  if (found.length === 0) throw new Error("there is no such function");
  if (found.length === 1) return found[0]!;
  const files = found.map(({ source }) => path.relative(root, source.fileName));
  throw new Error(`it is in ${files.join(" and ")}`);
}

const listed = new Map<string, string[]>();
function codeFiles(folders: readonly string[]): string[] {
  return folders.flatMap((folder) => {
    const files =
      listed.get(folder) ??
      readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((name) => /\.ts$/.test(name) && !/\.(test|d)\.ts$|(^|\/)_generated\//.test(name))
        .map((name) => path.join(folder, name));
    listed.set(folder, files);
    return files;
  });
}

const trees = new Map<string, ts.SourceFile>();
function parsed(file: string): ts.SourceFile {
  const text = readFileSync(file, "utf8");
  const known = trees.get(file);
  const tree = known?.text === text ? known : treeOf(file, text);
  trees.set(file, tree);
  return tree;
}

const treeOf = (file: string, text: string, hasParents = true) =>
  ts.createSourceFile(file, text, ts.ScriptTarget.Latest, hasParents);

function editsOf(within: ts.Node, source: ts.SourceFile, change: Change): Edit[] {
  if ("adds" in change) return [{ start: source.end, end: source.end, text: `\n${change.adds}\n` }];
  if ("returns" in change) return [bodyOf(within, source, () => `return ${change.returns};`)];
  if ("begins" in change) return [bodyOf(within, source, (body) => `${change.begins}\n${body}`)];
  const found = placesOf(within, source, change);
  if (change.nth !== undefined) {
    const one = found[change.nth - 1];
    if (one === undefined) throw new Error(`${found.length} places match`);
    return [one];
  }
  if (found.length === 0) throw new Error("no place matches");
  if (found.length > 1 && change.each !== true) throw new Error(`${found.length} places match`);
  return found;
}

function placesOf(within: ts.Node, source: ts.SourceFile, change: Change): Edit[] {
  const by = (node: ts.Node, text: string): Edit => ({ ...rangeOf(node, source), text });
  if ("without" in change)
    return callsOf(within, source, change.without, change.with).map((call) =>
      omitted(call, source),
    );
  if ("call" in change)
    return callsOf(within, source, change.call, change.with).map((call) => {
      const whole = awaited(call);
      return by(whole, `(${change.gives.replaceAll("$it", () => whole.getText(source))})`);
    });
  if ("condition" in change)
    return conditionsOf(within, source, change.condition).map((one) => by(one, `(${change.is})`));
  if ("value" in change)
    return valuesOf(within, source, change.value).map((one) => {
      const isShort = ts.isShorthandPropertyAssignment(one);
      return by(one, `${isShort ? `${change.value}: ` : ""}${change.is}`);
    });
  if (!("from" in change)) throw new Error("it says no change");
  return runsOf(tokensOf(within, source), tokensIn(change.from)).map((run) => ({
    start: run[0]!.start,
    end: run.at(-1)!.end,
    text: change.to,
  }));
}

/** A new body, from the text of the old one. */
function bodyOf(within: ts.Node, source: ts.SourceFile, text: (body: string) => string): Edit {
  const { body } = functionOf(within);
  const old = body.getText(source);
  const statements = ts.isBlock(body) ? old.slice(1, -1) : `return ${old};`;
  return { ...rangeOf(body, source), text: `{ ${text(statements)} }` };
}

const awaited = (call: ts.Node): ts.Node =>
  ts.isAwaitExpression(call.parent) ? call.parent : call;

/** Without a call: a statement that is one goes, and is an empty one under an `if` or `for`. */
function omitted(call: ts.Node, source: ts.SourceFile): Edit {
  const whole = awaited(call);
  const { parent } = whole;
  if (!ts.isExpressionStatement(parent)) return { ...rangeOf(whole, source), text: "undefined" };
  const isListed = ts.isBlock(parent.parent) || ts.isSourceFile(parent.parent);
  return { ...rangeOf(parent, source), text: isListed ? "" : "{}" };
}

const rangeOf = (node: ts.Node, source: ts.SourceFile) => ({
  start: node.getStart(source),
  end: node.end,
});

function edited(file: string, edits: readonly Edit[], bugs: readonly Bug[]): string {
  const sorted = edits.toSorted((a, b) => b.start - a.start || b.end - a.end);
  const names = bugs.map(({ name }) => `"${name}"`).join(" and ");
  const where = `${names} in ${path.relative(root, file)}`;
  let text = readFileSync(file, "utf8");
  sorted.forEach(({ start, end, text: by }, i) => {
    if (end > (sorted[i - 1]?.start ?? Infinity)) throw new Error(`Changes overlap: ${where}`);
    text = text.slice(0, start) + by + text.slice(end);
  });
  const { parseDiagnostics } = treeOf(file, text, false) as unknown as {
    parseDiagnostics: ts.Diagnostic[];
  };
  const [wrong] = parseDiagnostics;
  if (wrong !== undefined)
    throw new Error(
      `No valid code: ${where}: ${ts.flattenDiagnosticMessageText(wrong.messageText, " ")}`,
    );
  return text;
}
