/** Tokens of sources, without whitespace, comments and trailing commas. */
import ts from "typescript";

export interface Token {
  text: string;
  start: number;
  end: number;
}

const known = new WeakMap<ts.SourceFile, Token[]>();

/** Of a part of a file, as it was parsed. */
export function tokensOf(node: ts.Node, source: ts.SourceFile): Token[] {
  const all = known.get(source) ?? tokensOfFile(source);
  known.set(source, all);
  const from = node.getStart(source);
  return all.filter(({ start, end }) => start >= from && end <= node.end);
}

function tokensOfFile(source: ts.SourceFile): Token[] {
  const tokens: Token[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(source);
    if (children.length > 0) return children.forEach(visit);
    const start = node.getStart(source);
    if (node.end > start) {
      tokens.push({ text: source.text.slice(start, node.end), start, end: node.end });
    }
  };
  visit(source);
  return withoutTrailingCommas(tokens);
}

/** Of a piece of code that need not be whole. */
export function tokensIn(text: string): string[] {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, true, ts.LanguageVariant.Standard, text);
  const tokens: Token[] = [];
  const templates: number[] = [];
  for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    if (kind === ts.SyntaxKind.CloseBraceToken && templates.at(-1) === 0) {
      if (scanner.reScanTemplateToken(false) === ts.SyntaxKind.TemplateTail) templates.pop();
    } else if (kind === ts.SyntaxKind.TemplateHead) templates.push(0);
    else if (templates.length > 0 && kind === ts.SyntaxKind.OpenBraceToken)
      templates.push(templates.pop()! + 1);
    else if (templates.length > 0 && kind === ts.SyntaxKind.CloseBraceToken)
      templates.push(templates.pop()! - 1);
    tokens.push({
      text: scanner.getTokenText(),
      start: scanner.getTokenStart(),
      end: scanner.getTokenEnd(),
    });
  }
  return withoutTrailingCommas(tokens).map((token) => token.text);
}

/** The runs of tokens that are equal to these. */
export function runsOf(tokens: readonly Token[], wanted: readonly string[]): Token[][] {
  return tokens.flatMap((_, i) => {
    const run = tokens.slice(i, i + wanted.length);
    const isEqual = run.length === wanted.length && run.every(({ text }, j) => text === wanted[j]);
    return isEqual ? [run] : [];
  });
}

const CLOSING = new Set([")", "]", "}"]);

function withoutTrailingCommas(tokens: readonly Token[]): Token[] {
  return tokens.filter(({ text }, i) => text !== "," || !CLOSING.has(tokens[i + 1]?.text ?? ""));
}
