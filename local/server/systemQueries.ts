/**
 * The functions under `_system/` that the CLI asks a backend for, beside the app's own: `convex env`, `convex run` when
 * it lists the functions, `convex data`, `convex deploy` before it drops an index.
 */
import { convexToJson, type JSONValue } from "convex/values";
import type { Database } from "../engine/types.js";
import type { FunctionAddress, FunctionRunner, Identity } from "../functions/types.js";
import type { Pusher } from "../push/pusher.js";
import type { CalledQuery } from "./calls.js";
import { badAdminKey } from "./adminKey.js";

export interface SystemQueries {
  run(address: FunctionAddress, args: JSONValue, identity: Identity): Promise<CalledQuery>;
}

type SystemQuery = (
  namespace: string,
  args: Record<string, JSONValue>,
) => JSONValue | Promise<JSONValue>;

export function createSystemQueries(
  database: Database,
  runner: FunctionRunner,
  pusher: Pusher,
): SystemQueries {
  const queries: Record<string, SystemQuery> = {
    "_system/cli/queryEnvironmentVariables:default": () =>
      [...pusher.variables]
        .map(([name, value]) => ({ name, value }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),

    "_system/cli/queryEnvironmentVariables:get": (_namespace, { name }) => {
      const value = typeof name === "string" ? pusher.variables.get(name) : undefined;
      return value === undefined ? null : { name: name!, value };
    },

    "_system/cli/modules:apiSpec": (namespace) => apiSpec(runner, namespace),

    "_system/cli/tableSize:default": (namespace, { tableName }) =>
      typeof tableName === "string" ? countRows(database, namespace, tableName) : 0,

    "_system/cli/tables:default": (namespace) => {
      const names = database.tables(namespace).filter((name) => !name.startsWith("_"));
      return wholePage(names.sort().map((name) => ({ name })));
    },

    "_system/cli/tableData:default": (namespace, args) => tableData(database, namespace, args),
  };

  return {
    async run(address, args, identity) {
      if (identity.kind !== "admin") throw badAdminKey();
      const query = queries[address.path];
      const ts = database.latestTs;
      if (!query) {
        // A failed query and not a refusal: refused over a socket, a client would come again for ever.
        const message = `The local backend does not have the system function ${address.path}. It has: ${Object.keys(queries).join(", ")}.`;
        return { ok: false, message, logs: [], ts, reads: null, journal: null };
      }
      const value = await query(address.namespace, (args ?? {}) as Record<string, JSONValue>);
      return { ok: true, value, logs: [], ts, reads: null, journal: null };
    },
  };
}

function apiSpec(runner: FunctionRunner, namespace: string): JSONValue {
  const definition = runner.deployment.instances.get(namespace)?.definition;
  return [...(definition?.functions ?? [])].flatMap(([path, analyzed]) =>
    analyzed.map(({ name, udfType, visibility, args, returns }) => ({
      identifier: `${path}:${name}`,
      functionType: udfType,
      visibility: { kind: visibility },
      args: JSON.parse(args) as JSONValue,
      returns: JSON.parse(returns) as JSONValue,
    })),
  );
}

/** Asked only before an index is dropped, so walking the table is good enough. */
async function countRows(database: Database, namespace: string, table: string): Promise<number> {
  const transaction = database.begin();
  const all = { table, index: "by_creation_time", range: [], order: "asc" as const };
  let count = 0;
  for await (const _row of transaction.stream(namespace, all)) count++;
  return count;
}

/** As many rows as the CLI asks for, in one page: it shows a hundred by default. */
async function tableData(
  database: Database,
  namespace: string,
  { table, order, paginationOpts }: Record<string, JSONValue>,
): Promise<JSONValue> {
  const { numItems } = paginationOpts as { numItems: number };
  const name = typeof table === "string" ? table : "";
  if (name.startsWith("_") || !database.tables(namespace).includes(name)) return wholePage([]);
  const all = { table: name, index: "by_creation_time", range: [] };
  const rows = database
    .begin()
    .stream(namespace, { ...all, order: order === "asc" ? "asc" : "desc" });
  const page: JSONValue[] = [];
  for await (const row of rows) {
    page.push(convexToJson(row));
    if (page.length >= numItems) break;
  }
  return wholePage(page);
}

function wholePage(page: JSONValue[]): JSONValue {
  return { page, isDone: true, continueCursor: "" };
}
