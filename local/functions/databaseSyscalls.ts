/** `ctx.db`: reads for queries and mutations, writes for mutations, each in the function's own component. */
import { convexToJson, type JSONValue } from "convex/values";
import { queryPage, type PageRequest } from "../engine/page.js";
import { rowsOf, runQuery, type QueryJson } from "../engine/query.js";
import type { Doc, Namespace, Row, Transaction } from "../engine/types.js";
import type { Limits } from "../limits.js";
import { FunctionError } from "./errors.js";
import { publicRow, VISIBLE_SYSTEM_TABLES } from "./scheduledTable.js";
import type { Execution } from "./scope.js";
import { requireCounts, type AsyncSyscalls, type SyncSyscalls } from "./syscalls.js";
import { toFields, toPatch } from "./values.js";

interface Access {
  table: string;
  system: boolean;
}

/** A query that the function has begun: it is read from when it is first asked for a row. */
interface Stream {
  query: QueryJson;
  access: Access;
  rows: AsyncGenerator<Row, void, void> | null;
}

export function databaseReads({ scope, target, depth }: Execution): {
  sync: SyncSyscalls;
  async: AsyncSyscalls;
} {
  const { tx } = scope;
  const { namespace } = target.address;
  const streams = new Map<number, Stream>();
  let lastStream = 0;
  let paginated = false;

  async function next(queryId: number): Promise<{ value: JSONValue; done: boolean }> {
    const open = streams.get(queryId);
    if (open === undefined) throw new Error(`Query ${queryId} is closed.`);
    const { query, access } = open;
    try {
      open.rows ??= rowsOf(tx, namespace, query, access);
      const { done, value } = await open.rows.next();
      if (done === true) return { value: null, done };
      const doc = await shown(tx, namespace, value.doc, access);
      return { value: convexToJson(doc), done: false };
    } catch (error) {
      // It would report its end, and code that caught this error could take the rows so far for all rows.
      streams.delete(queryId);
      throw error;
    }
  }

  return {
    sync: {
      "1.0/queryStream": ({ query }: { query: QueryJson }) => {
        const access = accessOf(query);
        requireOperators(query, tx.global);
        streams.set(++lastStream, { query, access, rows: null });
        return { queryId: lastStream };
      },
      // The stream is dropped, not ended: ending it would wait, and it holds nothing but memory.
      "1.0/queryCleanup": ({ queryId }: { queryId: number }) => streams.delete(queryId),
      "1.0/db/normalizeId": ({ table, idString }: { table: string; idString: string }) => ({
        id: tx.normalizeId(namespace, table, idString),
      }),
      "1.0/getSnapshotTs": () => {
        scope.observed.time = true;
        return convexToJson(tx.beginTs);
      },
    },
    async: {
      "1.0/get": async ({ id, isSystem: system, table }: GetArgs) => {
        const found = tx.tableOf(namespace, id);
        if (system && found !== null) requireVisible(found);
        const doc = await tx.get(namespace, id, {
          system,
          ...(table === undefined ? {} : { table }),
        });
        if (doc === null) return null;
        return convexToJson(await shown(tx, namespace, doc, { table: found ?? "", system }));
      },
      "1.0/queryStreamNext": ({ queryId }: { queryId: number }) => next(queryId),
      "1.0/queryPage": async (request: PageRequest) => {
        requirePagination(namespace, paginated);
        requirePage(request, tx.global);
        const access = accessOf(request.query);
        requireOperators(request.query, tx.global);
        paginated = true;
        // Only the outermost function's page is watched, and so pinned.
        const isWatched = depth === 0;
        const endCursor = request.endCursor ?? (isWatched ? scope.journal.before : null);
        const page = await queryPage(tx, namespace, { ...request, endCursor }, access);
        if (isWatched) scope.journal.now = page.continueCursor;
        const docs: JSONValue[] = [];
        for (const doc of page.page)
          docs.push(convexToJson(await shown(tx, namespace, doc, access)));
        return { ...page, page: docs };
      },
      "1.0/count": async ({ table }: { table: string }) => {
        const query: QueryJson = {
          source: { type: "FullTableScan", tableName: table, order: null },
          operators: [],
        };
        let count = 0;
        for await (const _ of runQuery(tx, namespace, query, accessOf(query))) count++;
        return count;
      },
    },
  };
}

interface GetArgs {
  id: string;
  isSystem: boolean;
  table?: string;
}

interface WriteArgs {
  id: string;
  table?: string;
  value: JSONValue;
}

export function databaseWrites({ scope: { tx }, target }: Execution): AsyncSyscalls {
  const { namespace } = target.address;
  return {
    "1.0/insert": async ({ table, value }: { table: string; value: JSONValue }) => ({
      _id: await tx.insert(namespace, table, toFields(value)),
    }),
    "1.0/shallowMerge": async ({ id, value, table }: WriteArgs) =>
      convexToJson(await tx.patch(namespace, id, toPatch(value), table)),
    "1.0/replace": async ({ id, value, table }: WriteArgs) =>
      convexToJson(await tx.replace(namespace, id, toFields(value), table)),
    "1.0/remove": async ({ id, table }: WriteArgs) =>
      convexToJson(await tx.delete(namespace, id, table)),
  };
}

async function shown(
  tx: Transaction,
  namespace: Namespace,
  doc: Doc,
  { table, system }: Access,
): Promise<Doc> {
  return system ? publicRow(tx, namespace, table, doc) : doc;
}

/** `convex/server` has seen to it that `db` names no system table and `db.system` no other. */
function accessOf({ source }: QueryJson): Access {
  const table =
    source.type === "FullTableScan" ? source.tableName : source.indexName.split(".")[0]!;
  const system = table.startsWith("_");
  if (system) requireVisible(table);
  return { table, system };
}

function requireVisible(table: string): void {
  if (VISIBLE_SYSTEM_TABLES.has(table)) return;
  throw new FunctionError(
    `There is no system table "${table}". db.system has: ${[...VISIBLE_SYSTEM_TABLES].join(", ")}.`,
  );
}

function requireOperators({ operators }: QueryJson, { queryOperators }: Limits): void {
  if (operators.length <= queryOperators) return;
  throw new FunctionError(
    `Query has too many operators: ${operators.length} (limit: ${queryOperators}). ` +
      `Put the conditions into one filter, or into an index range.`,
  );
}

/** The platform's codes and words (async_syscall.rs). */
function requirePage(request: PageRequest, { pageSize: most }: Limits): void {
  const { pageSize, maximumRowsRead, maximumBytesRead } = request;
  requireCounts("queryPage", {
    pageSize,
    maximumRowsRead: maximumRowsRead ?? 0,
    maximumBytesRead: maximumBytesRead ?? 0,
  });
  if (pageSize === 0) {
    throw new FunctionError(
      "NoDocumentsForPagination: Must request at least 1 document while paginating. Raise numItems.",
    );
  }
  if (pageSize > most) {
    throw new FunctionError(
      `PageSizeTooLarge: Requested too many items: ${pageSize} (limit: ${most}). Ask for smaller pages.`,
    );
  }
  if (maximumRowsRead === 0 || maximumBytesRead === 0) {
    throw new FunctionError(
      "InvalidPaginationLimit: maximumRowsRead and maximumBytesRead must be greater than 0. Leave them out, or raise them.",
    );
  }
}

function requirePagination(namespace: string, paginated: boolean): void {
  if (namespace !== "") {
    throw new FunctionError(
      `PaginationUnsupportedInComponents: \`.paginate()\` does not work inside a component ("${namespace}"). ` +
        `Take a bounded number of rows behind a cursor of your own.`,
    );
  }
  if (paginated) {
    throw new FunctionError(
      "MultiplePaginatedDatabaseQueries: this function paginates for the second time, and one page a function is " +
        "the limit. Split it into two queries.",
    );
  }
}
