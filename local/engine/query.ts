/**
 * Evaluates the official query JSON on a transaction: a source, then filters and limits in their order, lazily. Rows
 * that a query does not ask for are not read, and so are in no read set.
 */
import type { JSONValue } from "convex/values";
import { compileFilter, literalOf } from "./filter.js";
import { ROWS_PER_FETCH } from "./limits.js";
import type { Access, Doc, IndexRange, Namespace, Row, RowWindow, Transaction } from "./types.js";

/** The query that `convex/server` sends with `queryStream` and `queryPage`. */
export interface QueryJson {
  source:
    | { type: "FullTableScan"; tableName: string; order: Order | null }
    | { type: "IndexRange"; indexName: string; range: readonly RangeJson[]; order: Order | null }
    | { type: "Search"; indexName: string; filters: readonly JSONValue[] };
  operators: readonly Operator[];
}

type Order = "asc" | "desc";
type Operator = { filter: JSONValue } | { limit: number };
interface RangeJson {
  type: "Eq" | "Gt" | "Gte" | "Lt" | "Lte";
  fieldPath: string;
  value: JSONValue;
}

/** The documents that the query asks for, one at a time. */
export async function* runQuery(
  transaction: Transaction,
  namespace: Namespace,
  query: QueryJson,
  access: Access = {},
): AsyncGenerator<Doc, void, void> {
  for await (const row of rowsOf(transaction, namespace, query, access)) yield row.doc;
}

/** Their rows, one at a time. Throws at once where a query cannot be run. */
export function rowsOf(
  transaction: Transaction,
  namespace: Namespace,
  query: QueryJson,
  access: Access,
): AsyncGenerator<Row, void, void> {
  const rows = transaction.rows(namespace, rangeOf(query, access), expectedBy(query));
  return withOperators(rows, query.operators);
}

/**
 * The rows of a part of the query's source that pass its operators. `enough` is called with each row that is read,
 * filtered ones included, and returns true to end the scan behind it.
 */
export function queryRows(
  transaction: Transaction,
  namespace: Namespace,
  query: QueryJson,
  access: Access,
  window: RowWindow,
  enough: (row: Row) => boolean,
): AsyncGenerator<Row, void, void> {
  const rows = transaction.rows(namespace, rangeOf(query, access), {
    ...window,
    ...expectedBy(query, window),
  });
  return withOperators(through(rows, enough), query.operators);
}

function rangeOf({ source }: QueryJson, { system = false }: Access): IndexRange {
  if (source.type === "Search") {
    throw new Error(
      `Index ${source.indexName} is a search index, which the local backend does not have. ` +
        `Use a database index, or a real deployment.`,
    );
  }
  const order = source.order ?? "asc";
  if (source.type === "FullTableScan") {
    return { table: source.tableName, index: "by_creation_time", range: [], order, system };
  }
  const [table = "", index = ""] = source.indexName.split(".");
  const range = source.range.map(({ type, fieldPath, value }) => ({
    type,
    fieldPath,
    value: literalOf(value),
  }));
  return { table, index, range, order, system };
}

/** A filter may let few pass, so the number of rows needed behind one is not known. */
function expectedBy(
  { operators: [first] }: QueryJson,
  asked: Pick<RowWindow, "expected" | "perFetch"> = {},
): Pick<RowWindow, "expected" | "perFetch"> {
  if (first === undefined) return asked;
  if ("limit" in first) return { expected: first.limit, perFetch: ROWS_PER_FETCH };
  return { expected: Infinity, perFetch: ROWS_PER_FETCH };
}

function withOperators(
  rows: AsyncGenerator<Row, void, void>,
  operators: readonly Operator[],
): AsyncGenerator<Row, void, void> {
  return operators.reduce(
    (inner, operator) =>
      "limit" in operator ? limited(inner, operator.limit) : filtered(inner, operator.filter),
    rows,
  );
}

/** Stops at the nth row without asking for another: the read set ends there. */
async function* limited(
  rows: AsyncGenerator<Row, void, void>,
  limit: number,
): AsyncGenerator<Row, void, void> {
  if (limit <= 0) return;
  let left = limit;
  for await (const row of rows) {
    yield row;
    if (--left === 0) return;
  }
}

async function* filtered(
  rows: AsyncGenerator<Row, void, void>,
  filter: JSONValue,
): AsyncGenerator<Row, void, void> {
  const passes = compileFilter(filter);
  for await (const row of rows) if (passes(row.doc)) yield row;
}

async function* through(
  rows: AsyncGenerator<Row, void, void>,
  enough: (row: Row) => boolean,
): AsyncGenerator<Row, void, void> {
  for await (const row of rows) {
    const isLast = enough(row);
    yield row;
    if (isLast) return;
  }
}
