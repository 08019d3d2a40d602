/**
 * Sees whether anything that is left in a context has changed: the values of modules' bindings and all that is reached
 * from there, and the globals with their prototypes. It remembers values one by one, in the order in which they are
 * reached, and compares; nothing is called, so getters and proxies are not looked through.
 *
 * Not seen: variables of functions that live on (closures), private fields, and the contents of weak collections.
 */
import { types } from "node:util";

/** Where looking begins. */
export interface Root {
  /** A module's path, or another name that error messages use for it. */
  of: string;
  name: string;
  value: unknown;
}

/** Everything reached from some roots. */
export interface Snapshot {
  /** Primitives as they are, objects by identity. */
  values: unknown[];
  /** Which root each was reached from, as the index of its first value. */
  starts: number[];
}

/** Properties that are not followed, wherever they are. */
export type Except = ReadonlySet<string | symbol>;

/** More bytes of a buffer than this are not compared. */
const MAX_BYTES = 4_096;

export function takeSnapshot(roots: readonly Root[], except: Except): Snapshot {
  const values: unknown[] = [];
  const starts: number[] = [];
  const walk = walker((value) => {
    values.push(value);
    return true;
  }, except);
  for (const { value } of roots) {
    starts.push(values.length);
    walk(value);
  }
  return { values, starts };
}

/** The first of the same roots from which something else is reached now: `null` when all is as it was. */
export function findChange(before: Snapshot, roots: readonly Root[], except: Except): Root | null {
  let at = 0;
  const { values, starts } = before;
  const walk = walker((value) => at < values.length && Object.is(values[at++], value), except);
  for (const [index, root] of roots.entries()) {
    if (!walk(root.value) || at !== (starts[index + 1] ?? values.length)) return root;
  }
  return null;
}

/** Tells `see` all that is reached, each object's insides once; ends and is false when that is. */
function walker(see: (value: unknown) => boolean, except: Except): (root: unknown) => boolean {
  const seen = new Set<object>();
  const pending: object[] = [];
  const meet = (value: unknown): boolean => {
    if (!see(value)) return false;
    if ((typeof value === "object" && value !== null) || typeof value === "function") {
      if (!seen.has(value)) {
        seen.add(value);
        pending.push(value);
      }
    }
    return true;
  };
  return (root) => {
    if (!meet(root)) return false;
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (!types.isProxy(next) && !meetInside(next, meet, except)) return false;
    }
    return true;
  };
}

function meetInside(object: object, meet: (value: unknown) => boolean, except: Except): boolean {
  if (!meet(Object.getPrototypeOf(object))) return false;
  if (types.isMap(object)) {
    for (const [key, value] of Map.prototype.entries.call(object))
      if (!meet(key) || !meet(value)) return false;
  } else if (types.isSet(object)) {
    for (const value of Set.prototype.values.call(object)) if (!meet(value)) return false;
  } else if (types.isDate(object)) {
    if (!meet(Date.prototype.getTime.call(object))) return false;
  } else if (ArrayBuffer.isView(object)) {
    return meetBytes(object, meet);
  }
  const keys = Reflect.ownKeys(object).filter((key) => !except.has(key));
  if (!meet(keys.length)) return false;
  for (const key of keys) {
    const property = Reflect.getOwnPropertyDescriptor(object, key)!;
    if (!meet(key)) return false;
    if ("value" in property ? !meet(property.value) : !meet(property.get) || !meet(property.set)) {
      return false;
    }
  }
  return true;
}

function meetBytes(view: ArrayBufferView, meet: (value: unknown) => boolean): boolean {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  if (!meet(bytes.length)) return false;
  for (const byte of bytes.subarray(0, MAX_BYTES)) if (!meet(byte)) return false;
  return true;
}
