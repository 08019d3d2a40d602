/**
 * The filter expressions of the official query builder, as it serializes them: `{"$eq": [{"$field": "a"}, {"$literal": 1}]}`.
 *
 * Comparisons follow the order of an index, so any two values can be compared; arithmetic wants two int64, with a result
 * that is one, or two float64; `and`, `or`, `not` and the filter itself want booleans. common/src/query.rs: eval.
 */
import { jsonToConvex, type JSONValue, type Value } from "convex/values";
import { describeValue } from "./describe.js";
import { hasPlaceholder } from "./documents.js";
import { compareInOrder } from "./keys.js";
import { fieldOf } from "./table.js";
import type { Doc } from "./types.js";

export type Predicate = (doc: Doc) => boolean;
type Evaluate = (doc: Doc) => Value | undefined;

const COMPARISONS: { [operator: string]: (order: number) => boolean } = {
  $eq: (order) => order === 0,
  $neq: (order) => order !== 0,
  $lt: (order) => order < 0,
  $lte: (order) => order <= 0,
  $gt: (order) => order > 0,
  $gte: (order) => order >= 0,
};

interface Arithmetic {
  verb: string;
  floats: (a: number, b: number) => number;
  ints: (a: bigint, b: bigint) => bigint;
}

const ARITHMETIC: { [operator: string]: Arithmetic } = {
  $add: { verb: "add", floats: (a, b) => a + b, ints: (a, b) => a + b },
  $sub: { verb: "subtract", floats: (a, b) => a - b, ints: (a, b) => a - b },
  $mul: { verb: "multiply", floats: (a, b) => a * b, ints: (a, b) => a * b },
  $div: { verb: "divide", floats: (a, b) => a / b, ints: (a, b) => a / b },
  $mod: { verb: "mod", floats: (a, b) => a % b, ints: (a, b) => a % b },
};

/** Understands the expression once, for all the documents it is then asked about. */
export function compileFilter(expression: JSONValue): Predicate {
  const evaluate = compile(expression);
  return (doc) => requireBoolean(evaluate(doc));
}

function compile(expression: JSONValue): Evaluate {
  const [operator, operand] = operatorOf(expression);
  if (operator === "$field") return (doc) => fieldOf(doc, operand as string);
  if (operator === "$literal") {
    const literal = literalOf(operand);
    requireResolved(literal);
    return () => literal;
  }
  if (operator === "$not") {
    const inner = compile(operand);
    return (doc) => !requireBoolean(inner(doc));
  }
  if (operator === "$neg") {
    const inner = compile(operand);
    return (doc) => negated(inner(doc));
  }
  const parts = (operand as JSONValue[]).map(compile);
  if (operator === "$and") return (doc) => parts.every((part) => requireBoolean(part(doc)));
  if (operator === "$or") return (doc) => parts.some((part) => requireBoolean(part(doc)));
  const [left, right] = parts as [Evaluate, Evaluate];
  const holds = COMPARISONS[operator];
  if (holds) return (doc) => holds(compareInOrder(left(doc), right(doc)));
  const arithmetic = ARITHMETIC[operator];
  if (arithmetic) return (doc) => calculated(arithmetic, left(doc), right(doc));
  throw new Error(`Unknown operator "${operator}" in a filter.`);
}

/** A literal of a query: a JSON value, or the stand-in for `undefined`. */
export function literalOf(json: JSONValue): Value | undefined {
  const isUndefined =
    typeof json === "object" && json !== null && Object.hasOwn(json, "$undefined");
  return isUndefined ? undefined : jsonToConvex(json);
}

/** Only the bounds of a range may name it (common/src/json/query.rs: range_value; json/expression.rs). */
function requireResolved(literal: Value | undefined): void {
  if (!hasPlaceholder(literal)) return;
  throw new Error(
    "Invalid argument `query` for `queryStream`: Field name $commitTs starts with '$', which is reserved. " +
      "A filter cannot compare with db.vars.commitTs: an index range can.",
  );
}

function operatorOf(expression: JSONValue): [string, JSONValue] {
  const entries = typeof expression === "object" && expression ? Object.entries(expression) : [];
  const [entry] = entries;
  if (entry === undefined || entries.length !== 1) {
    throw new Error(`Not a filter expression: ${JSON.stringify(expression)}.`);
  }
  return entry;
}

function requireBoolean(value: Value | undefined): boolean {
  if (typeof value === "boolean") return value;
  throw new Error(
    `A filter's condition must be a boolean, and was ${describeValue(value)}. ` +
      `Compare it: \`q.eq(q.field("done"), true)\`.`,
  );
}

function negated(value: Value | undefined): Value {
  if (typeof value === "number") return -value;
  if (typeof value === "bigint") return requireInt64(-value, () => `Cannot negate ${value}`);
  throw new Error(`Cannot negate ${describeValue(value)}: only an int64 or a float64.`);
}

function requireInt64(value: bigint, failure: () => string): bigint {
  if (BigInt.asIntN(64, value) === value) return value;
  throw new Error(`EvalError: ${failure()}: the result is out of range for Int64`);
}

function calculated(
  { verb, floats, ints }: Arithmetic,
  left: Value | undefined,
  right: Value | undefined,
): Value {
  if (typeof left === "number" && typeof right === "number") return floats(left, right);
  if (typeof left === "bigint" && typeof right === "bigint") {
    return requireInt64(ints(left, right), () => `Cannot ${verb} ${left} and ${right}`);
  }
  throw new Error(
    `Cannot ${verb} ${describeValue(left)} and ${describeValue(right)}: ` +
      `both must be int64, or both float64.`,
  );
}
