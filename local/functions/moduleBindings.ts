/**
 * Makes a module's own variables visible from outside: its top-level variables, functions and classes, by name. Only
 * names are found here; `moduleState.ts` reads their values.
 */
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import type ts from "typescript";
import type { ModuleSource } from "./types.js";

/** The function that an exposed module finds as `import.meta[EXPOSE]`, and calls at its end. */
export const EXPOSE = "exposeBindings";
export type Expose = (names: readonly string[], values: () => unknown[]) => void;

const exposed = new WeakMap<ModuleSource, ModuleSource>();
/** By the source's digest: the same app is pushed to many worlds. */
const known = new Map<string, readonly string[]>();

/** The names of modules' bindings, by the digest of their sources. */
export type Bindings = Readonly<Record<string, readonly string[]>>;
const require = createRequire(import.meta.url);

/** The same module, with a line at its end that gives its bindings away; the lines before stay as they are. */
export function exposeBindings(source: ModuleSource): ModuleSource {
  const before = exposed.get(source);
  if (before !== undefined) return before;
  const names = bindingsOf(source.source);
  const list = `${JSON.stringify(names)}, () => [${names.join(", ")}]`;
  const next = { ...source, source: `${source.source}\n;import.meta.${EXPOSE}?.(${list});\n` };
  exposed.set(source, next);
  return next;
}

/** Finds them once for other processes: reading an app takes the compiler two seconds. */
export function findAllBindings(codes: readonly string[]): Bindings {
  return Object.fromEntries(codes.map((code) => [digestOf(code), bindingsOf(code)]));
}

export function rememberBindings(found: Bindings): void {
  for (const [digest, names] of Object.entries(found)) known.set(digest, names);
}

const digestOf = (code: string): string => createHash("sha256").update(code).digest("hex");

export function bindingsOf(code: string): readonly string[] {
  const key = digestOf(code);
  const before = known.get(key);
  if (before !== undefined) return before;
  const names = [...findBindings(code)];
  known.set(key, names);
  return names;
}

function findBindings(code: string): Set<string> {
  // Loaded when it is needed: it takes a third of a second.
  const compiler = require("typescript") as typeof ts;
  const { ScriptTarget, ScriptKind, SyntaxKind, NodeFlags } = compiler;
  const file = compiler.createSourceFile("m.js", code, ScriptTarget.Latest, false, ScriptKind.JS);
  const names = new Set<string>();
  const bind = (name: ts.BindingName): void => {
    if (compiler.isIdentifier(name)) return void names.add(name.text);
    for (const element of name.elements) if ("name" in element) bind(element.name);
  };
  // `var` belongs to the module from within its blocks too; functions are another matter.
  const visit = (node: ts.Node): void => {
    if (compiler.isFunctionLike(node) || compiler.isClassLike(node)) return;
    if (compiler.isVariableDeclarationList(node) && !(node.flags & NodeFlags.BlockScoped)) {
      for (const { name } of node.declarations) bind(name);
    }
    compiler.forEachChild(node, visit);
  };
  for (const statement of file.statements) {
    if (compiler.isVariableStatement(statement)) {
      for (const { name } of statement.declarationList.declarations) bind(name);
    } else if (
      (statement.kind === SyntaxKind.FunctionDeclaration ||
        statement.kind === SyntaxKind.ClassDeclaration) &&
      (statement as ts.FunctionDeclaration | ts.ClassDeclaration).name !== undefined
    ) {
      names.add((statement as ts.FunctionDeclaration | ts.ClassDeclaration).name!.text);
    } else {
      visit(statement);
    }
  }
  return names;
}
