/** Finds the places in a file's syntax tree that a change names. */
import ts from "typescript";
import { tokensIn, tokensOf } from "./tokens.js";

/** The declaration with this name, each part of it within the part before; null where the file has none. */
export function declarationOf(source: ts.SourceFile, name: string): ts.Node | null {
  return name.split(".").reduce<ts.Node | null>((within, part) => {
    if (within === null) return null;
    const all = descendants(within).filter((node) => isDeclared(node, part, source));
    const found = within === source ? all.filter(isTop) : all;
    if (found.length > 1) throw new Error(`${part} is declared ${found.length} times`);
    return found[0] ?? null;
  }, source);
}

function isDeclared(node: ts.Node, name: string, source: ts.SourceFile): boolean {
  if (ts.isConstructorDeclaration(node)) return name === "constructor" && node.body !== undefined;
  const isOverload =
    (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) && node.body === undefined;
  const isNamed =
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isAccessor(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isPropertyAssignment(node);
  return isNamed && !isOverload && node.name?.getText(source) === name;
}

function isTop(node: ts.Node): boolean {
  const statement = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  return ts.isSourceFile(statement.parent);
}

type WithBody = ts.FunctionLikeDeclaration & { body: ts.ConciseBody };

/** The function itself: of a registered one its handler, of a loop its run. */
export function functionOf(node: ts.Node): WithBody {
  if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) return node as WithBody;
  const value =
    ts.isVariableDeclaration(node) ||
    ts.isPropertyAssignment(node) ||
    ts.isPropertyDeclaration(node)
      ? node.initializer
      : undefined;
  if (value !== undefined && ts.isFunctionLike(value)) return functionOf(value);
  const given = value !== undefined && ts.isCallExpression(value) ? value.arguments : [];
  for (const argument of given) {
    if (ts.isFunctionLike(argument)) return functionOf(argument);
    if (!ts.isObjectLiteralExpression(argument)) continue;
    const handler = argument.properties.find(
      ({ name }) =>
        name !== undefined && ts.isIdentifier(name) && /^(handler|run)$/.test(name.text),
    );
    if (handler !== undefined) return functionOf(handler);
  }
  throw new Error("it is no function");
}

/** Calls of a function with such a name, or such an end of a chain of names. */
export function callsOf(
  within: ts.Node,
  source: ts.SourceFile,
  name: string,
  words = "",
): ts.Node[] {
  const wanted = tokensIn(name);
  return descendants(within).filter((node) => {
    if (!ts.isCallExpression(node)) return false;
    const callee = tokensOf(node.expression, source).map(({ text }) => text);
    const end = callee.slice(-wanted.length);
    return end.join(" ") === wanted.join(" ") && has(node, source, words);
  });
}

/** The smallest conditions, and operands of these, with all the words. */
export function conditionsOf(within: ts.Node, source: ts.SourceFile, words: string): ts.Node[] {
  const all = new Set(
    descendants(within).flatMap((node) => {
      if (ts.isIfStatement(node) || ts.isWhileStatement(node)) return [node.expression];
      if (ts.isConditionalExpression(node)) return [node.condition];
      return isLogical(node) ? [node, node.left, node.right] : [];
    }),
  );
  const matching = [...all].filter((node) => has(node, source, words));
  const isWithin = (node: ts.Node, other: ts.Node) =>
    node !== other && node.pos >= other.pos && node.end <= other.end;
  return matching.filter((node) => !matching.some((other) => isWithin(other, node)));
}

function isLogical(node: ts.Node): node is ts.BinaryExpression {
  if (!ts.isBinaryExpression(node)) return false;
  const { kind } = node.operatorToken;
  return kind === ts.SyntaxKind.AmpersandAmpersandToken || kind === ts.SyntaxKind.BarBarToken;
}

/** Declarations, properties and assignments of this name. */
export function valuesOf(within: ts.Node, source: ts.SourceFile, name: string): ts.Node[] {
  return [within, ...descendants(within)].flatMap((node): ts.Node[] => {
    if (ts.isShorthandPropertyAssignment(node)) return node.name.text === name ? [node] : [];
    if (
      ts.isVariableDeclaration(node) ||
      ts.isPropertyAssignment(node) ||
      ts.isPropertyDeclaration(node)
    ) {
      const isMeant = node.name.getText(source) === name && node.initializer !== undefined;
      return isMeant ? [node.initializer] : [];
    }
    if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.EqualsToken)
      return [];
    const left = ts.isPropertyAccessExpression(node.left) ? node.left.name : node.left;
    return left.getText(source) === name ? [node.right] : [];
  });
}

function has(node: ts.Node, source: ts.SourceFile, words: string): boolean {
  const there = new Set(tokensOf(node, source).map(({ text }) => text));
  return tokensIn(words).every((word) => there.has(word));
}

function descendants(node: ts.Node): ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (one: ts.Node) => {
    found.push(one);
    ts.forEachChild(one, visit);
  };
  ts.forEachChild(node, visit);
  return found;
}
