/**
 * A fixture: all rows that a version of the component had at one moment of a busy life, scheduled functions among them, and the
 * state of its workers then. Written by `record.ts`, read by the test. Values are in the platform's JSON, so that ids, int64 and
 * bytes come back as they were.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { convexToJson, jsonToConvex, type JSONValue, type Value } from "convex/values";
import { root } from "../support/paths.js";
import type { StoredTable } from "../../local/engine/store.js";
import { SCHEDULED_TABLE } from "../../local/functions/scheduledTable.js";
import { MemoryStore } from "../../local/store/memoryStore.js";
import { COMPONENT } from "./app.js";

export const FOLDER = path.join(root, "tests/upgrade/fixtures");

export interface Row {
  _id: string;
  _creationTime: number;
  [field: string]: any;
}

/** A worker session as its process knew it. */
export interface KnownSession {
  sessionKey: string;
  token: string;
  queue: string;
  callSeq: number;
  /** Its leases that it has not reported on. */
  leases: { id: string; attempt: number }[];
  /** Its last call of `claim` or `complete`, to be repeated word for word. */
  last: { path: string; args: any; reply: any };
}

export interface Fixture {
  /** The version of the package, and the commit of the component. */
  madeBy: { version: string; commit: string };
  /** When, in milliseconds, and at which commit timestamp. */
  at: number;
  ts: string;
  sessions: KnownSession[];
  /** Without the types of their documents: which the next version's schema has to take. */
  tables: (Omit<StoredTable, "documentType"> & { rows: Row[] })[];
}

export function readFixtures(): { name: string; fixture: Fixture }[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => ({ name, fixture: decode(readFileSync(path.join(FOLDER, name), "utf8")) }));
}

export function encode({ tables, sessions, ...rest }: Fixture): JSONValue {
  return {
    ...rest,
    sessions: convexToJson(sessions as unknown as Value),
    tables: tables.map(({ rows, ...table }) => ({
      ...table,
      rows: rows.map((row) => convexToJson(row)),
    })),
  } as unknown as JSONValue;
}

export function decode(text: string): Fixture {
  const { tables, sessions, ...rest } = JSON.parse(text) as Fixture;
  return {
    ...rest,
    sessions: jsonToConvex(sessions as never) as never,
    tables: tables.map(({ rows, ...table }) => ({
      ...table,
      rows: rows.map((row) => jsonToConvex(row as unknown as JSONValue) as unknown as Row),
    })),
  };
}

/** A store with exactly the fixture's rows, for a backend to begin on. */
export async function storeOf(fixture: Fixture): Promise<MemoryStore> {
  const store = new MemoryStore();
  await store.append([
    {
      ts: BigInt(fixture.ts),
      tables: fixture.tables.map(({ rows: _, ...table }) => table),
      writes: fixture.tables.flatMap(({ namespace, name, rows }) =>
        rows.map((doc) => ({ namespace, table: name, id: doc._id, doc })),
      ),
      settings: new Map(),
      size: { documents: 0, bytes: 0 },
    },
  ]);
  return store;
}

/** A store's tables, in the form of a fixture. */
export function tablesOf(store: MemoryStore): Fixture["tables"] {
  return store.contents().map(({ table: { documentType: _, ...table }, docs }) => ({
    ...table,
    rows: docs,
  }));
}

type Rowed = Pick<Fixture["tables"][number], "namespace" | "name" | "rows">[];

/** The rows of one of the component's tables. */
export function rowsOf({ tables }: { tables: Rowed }, table: string, namespace = COMPONENT): Row[] {
  return tables.find((of) => of.namespace === namespace && of.name === table)?.rows ?? [];
}

/** The component's scheduled functions that are still to run. */
export function pendingCalls(of: { tables: Rowed }): Row[] {
  return rowsOf(of, SCHEDULED_TABLE).filter(({ state }) => state.kind === "pending");
}

/** The calls of one function: `tend/janitor:sweep`. */
export function callsOf(calls: readonly Row[], path: string): Row[] {
  return calls.filter(({ target }) => target.path === path);
}
