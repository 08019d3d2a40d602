/**
 * From the bounds of a query to one interval of index keys, with the platform's rules: equalities on the index's first
 * fields, in their order, then at most one lower and one upper bound on the field that follows.
 */
import { afterPrefix, encodeValue, justAfter, type Key } from "./keys.js";
import type { Index, Table } from "./table.js";
import type { RangeBound, RowWindow } from "./types.js";

export interface KeyInterval {
  /** Included. */
  start: Key;
  /** Excluded. */
  end: Key;
}

export function intervalOf(table: Table, index: Index, bounds: readonly RangeBound[]): KeyInterval {
  const name = `${table.name}.${index.name}`;
  const equalities = new Map<string, RangeBound>();
  let lower: RangeBound | undefined;
  let upper: RangeBound | undefined;
  for (const bound of bounds) {
    if (!index.columns.includes(bound.fieldPath)) throw fieldNotInIndex(name, index, bound);
    if (bound.type === "Eq") {
      if (equalities.has(bound.fieldPath)) throw alreadyBound("equality", bound);
      equalities.set(bound.fieldPath, bound);
    } else if (bound.type === "Gt" || bound.type === "Gte") {
      if (lower) throw alreadyBound("lower", bound);
      lower = bound;
    } else {
      if (upper) throw alreadyBound("upper", bound);
      upper = bound;
    }
  }
  const inequality = lower ?? upper;
  if (lower && upper && lower.fieldPath !== upper.fieldPath) throw twoFields(name, lower, upper);
  if (inequality && equalities.has(inequality.fieldPath))
    throw alreadyBound("equality", inequality);
  const used = [...equalities.keys(), ...(inequality ? [inequality.fieldPath] : [])];
  requirePrefix(name, index, equalities, used);

  let prefix = "";
  for (const column of index.columns.slice(0, equalities.size)) {
    prefix += encodeValue(equalities.get(column)!.value);
  }
  return { start: startOf(prefix, lower), end: endOf(prefix, upper) };
}

function startOf(prefix: Key, lower: RangeBound | undefined): Key {
  if (lower === undefined) return prefix;
  const key = prefix + encodeValue(lower.value);
  return lower.type === "Gt" ? afterPrefix(key) : key;
}

function endOf(prefix: Key, upper: RangeBound | undefined): Key {
  if (upper === undefined) return afterPrefix(prefix);
  const key = prefix + encodeValue(upper.value);
  return upper.type === "Lte" ? afterPrefix(key) : key;
}

/** Equalities may come in any order, as long as together they are the index's first fields. */
function requirePrefix(
  name: string,
  index: Index,
  equalities: ReadonlyMap<string, RangeBound>,
  used: readonly string[],
): void {
  const wrong = used.find((field, i) =>
    i < equalities.size
      ? index.columns.indexOf(field) >= equalities.size
      : index.columns[i] !== field,
  );
  if (wrong === undefined) return;
  throw new Error(
    `Tried to query index ${name} but the query didn't use the index fields in order.\n` +
      `Index fields: [${index.columns.join(", ")}]\n` +
      `Query fields: [${used.join(", ")}]\n` +
      `First incorrect field: ${wrong}\n` +
      `For more information see https://docs.convex.dev/using/indexes.`,
  );
}

function alreadyBound(kind: "equality" | "lower" | "upper", bound: RangeBound): Error {
  const sign = { Eq: "==", Gt: ">", Gte: ">=", Lt: "<", Lte: "<=" }[bound.type];
  return new Error(
    `Already defined ${kind} bound in index range. Can't add "${bound.fieldPath}" ${sign} a second value.`,
  );
}

function twoFields(name: string, lower: RangeBound, upper: RangeBound): Error {
  return new Error(
    `Upper and lower bounds in \`range\` can only be applied to a single index field. This query against index ` +
      `${name} attempted to set a range bound on both "${lower.fieldPath}" and "${upper.fieldPath}". ` +
      `Consider using \`filter\` instead. See https://docs.convex.dev/using/indexes for more info.`,
  );
}

function fieldNotInIndex(name: string, index: Index, bound: RangeBound): Error {
  return new Error(
    `The index range included a comparison with "${bound.fieldPath}", but ${name} with fields ` +
      `[${index.columns.join(", ")}] doesn't index this field. ` +
      `For more information see https://docs.convex.dev/using/indexes.`,
  );
}

/** The rest of a range between two rows' keys, as pages ask for it. */
export function narrowed(
  { start, end }: KeyInterval,
  order: "asc" | "desc",
  { after, until }: RowWindow,
): KeyInterval {
  const ascending = order === "asc";
  const low = ascending ? after && justAfter(after) : until;
  const high = ascending ? until && justAfter(until) : after;
  return {
    start: low !== undefined && low > start ? low : start,
    end: high !== undefined && high < end ? high : end,
  };
}
