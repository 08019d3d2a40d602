/** A push's changes, in the form in which the CLI prints them. */
import { authDifference } from "./authConfig.js";
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

interface CronDifference {
  added: string[];
  updated: string[];
  deleted: string[];
}

interface ComponentDifference {
  diffType: { type: "create" | "modify" | "unmount" };
  moduleDiff: NameDifference;
  udfConfigDiff: null;
  cronDiff: CronDifference;
  indexDiff: IndexDifference;
  schemaDiff: null;
}

export interface PushDifference {
  authDiff: NameDifference;
  definitionDiffs: Record<string, never>;
  componentDiffs: Record<string, ComponentDifference>;
}

/** By namespace, changed ones only. */
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
      cronDiff: cronDifference(old, now),
      indexDiff: indexDifference(old, now),
      schemaDiff: null,
    };
  }
  const authDiff = authDifference(before.auth ?? [], after.auth ?? []);
  return { authDiff, definitionDiffs: {}, componentDiffs };
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

function cronDifference(
  before: ComponentInstance | undefined,
  after: ComponentInstance | undefined,
): CronDifference {
  const texts = (instance: ComponentInstance | undefined) =>
    new Map(
      [...(instance?.definition.crons ?? [])].map(([name, cron]) => [name, JSON.stringify(cron)]),
    );
  const [old, now] = [texts(before), texts(after)];
  return {
    added: [...now.keys()].filter((name) => !old.has(name)),
    updated: [...now.keys()].filter((name) => old.has(name) && old.get(name) !== now.get(name)),
    deleted: [...old.keys()].filter((name) => !now.has(name)),
  };
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
