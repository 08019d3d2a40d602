/** What a push changes, in the form in which the CLI prints it. */
import type { TableSpec } from "../engine/types.js";
import type { ComponentInstance, Deployment } from "../functions/types.js";

export interface IndexConfig {
  name: string;
  type: "database";
  fields: string[];
}

export interface IndexDifference {
  added_indexes: IndexConfig[];
  removed_indexes: IndexConfig[];
}

interface NameDifference {
  added: string[];
  removed: string[];
}

interface ComponentDifference {
  diffType: { type: "create" | "modify" | "unmount" };
  moduleDiff: NameDifference;
  udfConfigDiff: null;
  cronDiff: { added: string[]; updated: string[]; deleted: string[] };
  indexDiff: IndexDifference;
  schemaDiff: null;
}

export interface PushDifference {
  authDiff: NameDifference;
  definitionDiffs: Record<string, never>;
  componentDiffs: Record<string, ComponentDifference>;
}

/** By namespace, those that change only. */
export function indexDifferences(
  before: Deployment,
  after: Deployment,
): Record<string, IndexDifference> {
  const differences: Record<string, IndexDifference> = {};
  for (const [namespace, instance] of after.instances) {
    const difference = indexDifference(before.instances.get(namespace), instance);
    if (difference.added_indexes.length + difference.removed_indexes.length > 0) {
      differences[namespace] = difference;
    }
  }
  return differences;
}

export function pushDifference(before: Deployment, after: Deployment): PushDifference {
  const componentDiffs: Record<string, ComponentDifference> = {};
  for (const namespace of new Set([...before.instances.keys(), ...after.instances.keys()])) {
    const old = before.instances.get(namespace);
    const now = after.instances.get(namespace);
    componentDiffs[namespace] = {
      diffType: { type: old && now ? "modify" : now ? "create" : "unmount" },
      moduleDiff: nameDifference(modulePaths(old), modulePaths(now)),
      udfConfigDiff: null,
      cronDiff: { added: [], updated: [], deleted: [] },
      indexDiff: indexDifference(old, now),
      schemaDiff: null,
    };
  }
  return { authDiff: { added: [], removed: [] }, definitionDiffs: {}, componentDiffs };
}

function indexDifference(
  before: ComponentInstance | undefined,
  after: ComponentInstance | undefined,
): IndexDifference {
  const old = indexesOf(before?.definition.tables ?? []);
  const now = indexesOf(after?.definition.tables ?? []);
  return {
    added_indexes: [...now].filter(([key]) => !old.has(key)).map(([, index]) => index),
    removed_indexes: [...old].filter(([key]) => !now.has(key)).map(([, index]) => index),
  };
}

/** Keyed by name and fields: the same name over other fields is another index, removed and added. */
function indexesOf(tables: TableSpec[]): Map<string, IndexConfig> {
  const indexes = new Map<string, IndexConfig>();
  for (const table of tables) {
    for (const { name, fields } of table.indexes) {
      const index: IndexConfig = { name: `${table.name}.${name}`, type: "database", fields };
      indexes.set(JSON.stringify([index.name, fields]), index);
    }
  }
  return indexes;
}

function modulePaths(instance: ComponentInstance | undefined): Set<string> {
  return new Set(instance?.definition.modules.keys() ?? []);
}

function nameDifference(before: Set<string>, after: Set<string>): NameDifference {
  return {
    added: [...after].filter((name) => !before.has(name)),
    removed: [...before].filter((name) => !after.has(name)),
  };
}
