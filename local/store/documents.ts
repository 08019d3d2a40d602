/** Documents and tables as texts, and back. */
import { convexToJson, jsonToConvex, type JSONValue, type Value } from "convex/values";
import type { StoredCommit, StoredTable } from "../engine/store.js";
import type { Doc } from "../engine/types.js";
import type { EncodedCommit, EncodedTable } from "./messages.js";

export function encodeCommit({ ts, tables, writes, settings }: StoredCommit): EncodedCommit {
  return {
    ts,
    tables: tables.map(encodeTable),
    writes: writes.map(({ namespace, table, id, doc }) => ({
      namespace,
      table,
      id,
      value: doc && JSON.stringify(convexToJson(doc as Value)),
    })),
    settings: [...settings],
  };
}

export function decodeDocument(text: string): Doc {
  return Object.freeze(jsonToConvex(JSON.parse(text) as JSONValue) as Doc);
}

export function decodeTable({ namespace, name, definition }: EncodedTable): StoredTable {
  return {
    namespace,
    name,
    ...(JSON.parse(definition) as Omit<StoredTable, "namespace" | "name">),
  };
}

function encodeTable({ namespace, name, ...definition }: StoredTable): EncodedTable {
  return { namespace, name, definition: JSON.stringify(definition) };
}
