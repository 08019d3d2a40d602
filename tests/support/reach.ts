/**
 * Functions, files and tables that one transaction of the component can reach, from references in its source. A function that
 * is only scheduled is not reached: it runs in a transaction of its own. One that is called with `runQuery` or `runMutation` is.
 */
import path from "node:path";
import ts from "typescript";
import { root } from "./paths.js";

const COMPONENT = path.join(root, "src/component");

/** A top-level function of the component, a registered one or another, or a method of a top-level class. */
interface Unit {
  /** `room/file.ts:name`. */
  readonly name: string;
  readonly file: string;
  readonly calls: Set<ts.Node>;
  readonly tables: Map<string, Set<Access>>;
}
export type Access = "reads" | "writes";

export interface Reach {
  readonly functions: readonly string[];
  readonly files: readonly string[];
  readonly tables: ReadonlyMap<string, ReadonlySet<Access>>;
}

const METHODS: Record<string, Access> = {
  get: "reads",
  query: "reads",
  insert: "writes",
  patch: "writes",
  replace: "writes",
  delete: "writes",
};
/** Calls that return a registered function. */
const REGISTERS = /^(internal)?(mutation|query|action)$|^define(Segment)?Loop$/i;
const MUTATES = /^(internalM|m)utation$|^define(Segment)?Loop$/;
const SCHEDULES = new Set(["runAfter", "runAt"]);
const NESTED = new Set(["runQuery", "runMutation", "runAction"]);

/** The transactions that run most often, by the function that each begins with. */
export const HOT = {
  claim: "lib.ts:claim",
  complete: "lib.ts:complete",
  heartbeat: "lib.ts:heartbeat",
  enqueue: "lib.ts:enqueue",
  wake: "push/wake.ts:wake",
  "lane's step": "push/laneStep.ts:stepLane",
  sweep: "tend/janitor.ts:sweep",
} as const satisfies Record<string, string>;

export class Reaches {
  readonly #checker: ts.TypeChecker;
  readonly #units = new Map<ts.Node, Unit>();
  /** The declaration of a registered function by its path, such as `claim/choose:chooseJobs`. */
  readonly #registered = new Map<string, ts.Node>();

  constructor(files: readonly string[]) {
    const program = ts.createProgram(
      files.map((file) => path.join(COMPONENT, file)),
      configured(),
    );
    this.#checker = program.getTypeChecker();
    const sources = program
      .getSourceFiles()
      .filter(({ fileName }) => files.includes(path.relative(COMPONENT, fileName)));
    for (const source of sources) this.#declare(source);
    for (const [node, unit] of this.#units) this.#read(node, unit);
  }

  /** All functions, as `room/file.ts:name`. */
  names(): string[] {
    return [...this.#units.values()].map(({ name }) => name);
  }

  /** Of the function with that name (`room/file.ts:name`), itself included. Throws an error if there is none. */
  of(name: string): Reach {
    const seen = new Set<ts.Node>([this.#find(name)]);
    for (const node of seen) for (const called of this.#units.get(node)!.calls) seen.add(called);
    const units = [...seen].map((node) => this.#units.get(node)!);
    const tables = new Map<string, Set<Access>>();
    for (const unit of units)
      for (const [table, accesses] of unit.tables)
        for (const access of accesses) add(tables, table, access);
    return {
      functions: units.map((unit) => unit.name).sort(),
      files: [...new Set(units.map(({ file }) => file))].sort(),
      tables,
    };
  }

  /** The files of the functions that it calls itself, without its own. Throws an error as `of`. */
  callees(name: string): string[] {
    const { calls, file: own } = this.#units.get(this.#find(name))!;
    const files = [...calls].map((node) => this.#units.get(node)!.file);
    return [...new Set(files)].filter((file) => file !== own).sort();
  }

  /** The names of the registered mutations in a file, loops included. */
  mutations(file: string): string[] {
    return [...this.#units]
      .filter(([node, unit]) => unit.file === file && isMutation(node))
      .map(([, { name }]) => name.slice(file.length + 1));
  }

  /** Groups of files in which each reaches each other by references of functions, the largest first; only those of two or more. */
  circles(): string[][] {
    const to = new Map<string, Set<string>>();
    for (const unit of this.#units.values()) {
      const files = to.get(unit.file) ?? new Set();
      for (const called of unit.calls) files.add(this.#units.get(called)!.file);
      to.set(unit.file, files);
    }
    const reached = new Map<string, Set<string>>();
    for (const file of to.keys()) {
      const all = new Set<string>();
      const open = [file];
      while (open.length > 0)
        for (const next of to.get(open.pop()!)!)
          if (!all.has(next)) {
            all.add(next);
            open.push(next);
          }
      reached.set(file, all);
    }
    const circles: string[][] = [];
    const placed = new Set<string>();
    for (const [file, all] of reached) {
      if (placed.has(file)) continue;
      const circle = [...all].filter((other) => reached.get(other)!.has(file));
      for (const other of circle) placed.add(other);
      if (circle.length > 1) circles.push(circle.sort());
    }
    return circles.sort((a, b) => b.length - a.length);
  }

  #find(name: string): ts.Node {
    const found = [...this.#units].find(([, unit]) => unit.name === name);
    if (found === undefined) throw new Error(`No function ${name} in src/component.`);
    return found[0];
  }

  #declare(source: ts.SourceFile): void {
    const file = path.relative(COMPONENT, source.fileName);
    const put = (node: ts.Node, name: string) =>
      this.#units.set(node, { name: `${file}:${name}`, file, calls: new Set(), tables: new Map() });
    for (const statement of source.statements) {
      if (ts.isFunctionDeclaration(statement) && statement.name !== undefined)
        put(statement, statement.name.text);
      if (ts.isClassDeclaration(statement))
        for (const member of statement.members)
          if (ts.isMethodDeclaration(member) || ts.isConstructorDeclaration(member))
            put(member, `${statement.name?.text ?? ""}.${member.name?.getText() ?? "constructor"}`);
      if (!ts.isVariableStatement(statement)) continue;
      for (const declaration of statement.declarationList.declarations) {
        const { name, initializer } = declaration;
        if (!ts.isIdentifier(name) || initializer === undefined || !isFunction(initializer))
          continue;
        put(declaration, name.text);
        this.#registered.set(`${file.replace(/\.ts$/, "")}:${name.text}`, declaration);
      }
    }
  }

  #read(node: ts.Node, unit: Unit): void {
    const visit = (child: ts.Node): void => {
      if (ts.isTypeNode(child)) return;
      if (ts.isCallExpression(child)) {
        const method = ts.isPropertyAccessExpression(child.expression)
          ? child.expression.name.text
          : "";
        if (SCHEDULES.has(method)) {
          for (const given of child.arguments.slice(2)) visit(given);
          return;
        }
        const [first] = child.arguments;
        if (NESTED.has(method) && first !== undefined) this.#call(this.#nested(first), unit);
        if (isOfDatabase(child.expression) && first !== undefined)
          for (const table of this.#tablesOf(first))
            if (METHODS[method] !== undefined) add(unit.tables, table, METHODS[method]);
      }
      if (ts.isIdentifier(child)) this.#call(this.#declarationOf(child), unit);
      ts.forEachChild(child, visit);
    };
    ts.forEachChild(node, visit);
  }

  #call(called: ts.Node | undefined, unit: Unit): void {
    if (called !== undefined && this.#units.has(called)) unit.calls.add(called);
  }

  #declarationOf(name: ts.Identifier): ts.Node | undefined {
    let symbol = this.#checker.getSymbolAtLocation(name);
    if (symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0)
      symbol = this.#checker.getAliasedSymbol(symbol);
    return symbol?.valueDeclaration;
  }

  /** `internal.claim.choose.chooseJobs`, as it stands in a call. */
  #nested(reference: ts.Expression): ts.Node | undefined {
    const parts = reference.getText().split(".");
    const name = parts.pop();
    return this.#registered.get(`${parts.slice(1).join("/")}:${name}`);
  }

  /** The tables that the first argument of a call of `ctx.db` may name. */
  #tablesOf(argument: ts.Expression): string[] {
    const type = this.#checker.getTypeAtLocation(argument);
    const types = type.isUnion() ? type.types : [type];
    return types.flatMap((one) => (one.isStringLiteral() ? [one.value] : []));
  }
}

/** `ctx.db.get`, or `db.get`. */
function isOfDatabase(called: ts.Expression): boolean {
  if (!ts.isPropertyAccessExpression(called)) return false;
  const { expression: of } = called;
  return (
    (ts.isIdentifier(of) ? of.text : ts.isPropertyAccessExpression(of) && of.name.text) === "db"
  );
}

function isMutation(node: ts.Node): boolean {
  if (!ts.isVariableDeclaration(node) || node.initializer === undefined) return false;
  const made = node.initializer;
  return ts.isCallExpression(made) && MUTATES.test(made.expression.getText());
}

function isFunction(node: ts.Expression): boolean {
  if (ts.isCallExpression(node)) return REGISTERS.test(node.expression.getText());
  return ts.isArrowFunction(node) || ts.isFunctionExpression(node);
}

function add(tables: Map<string, Set<Access>>, table: string, access: Access): void {
  tables.set(table, (tables.get(table) ?? new Set<Access>()).add(access));
}

function configured(): ts.CompilerOptions {
  const file = path.join(root, "tsconfig.json");
  const { config } = ts.readConfigFile(file, (name) => ts.sys.readFile(name)) as { config: object };
  return ts.parseJsonConfigFileContent(config, ts.sys, root).options;
}
