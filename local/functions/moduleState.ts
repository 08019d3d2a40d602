/**
 * Sees whether anything that is left in a context has changed: the values of modules' bindings and all that is reached
 * from there, and the globals with their prototypes. It remembers the contents of each object, and compares; nothing
 * is called, so getters and proxies are not looked through.
 *
 * Not seen: variables of functions that live on (closures), private fields, and the contents of weak collections.
 */
import { types } from "node:util";

// Vitest reads an import anew at each use; these are used a hundred thousand times.
const { isProxy, isMap, isSet, isDate } = types;

/** Where looking begins. */
export interface Root {
  /** A module's path, or another name that error messages use for it. */
  of: string;
  name: string;
  value: unknown;
}

/** All objects reached from some roots, each under the first root that leads to it. */
export type Snapshot = readonly Reached[];

interface Reached {
  value: unknown;
  objects: readonly Remembered[];
}

type Key = string | symbol;

/** An object's contents: primitives as they are, objects by identity. */
interface Remembered {
  object: object;
  prototype: object | null;
  keys: readonly Key[];
  /** For each key its value; for a getter or setter, and a key that is not followed, `ASIDE`. */
  values: readonly unknown[];
  accessors: readonly Accessor[];
  /** Of a map, a set, a date or a buffer. */
  inside: readonly unknown[];
}

type Accessor = readonly [key: Key, get: unknown, set: unknown];

const ASIDE = Symbol("aside");
const NONE: readonly never[] = [];

/** Properties that are not followed, wherever they are. */
export type Except = ReadonlySet<string | symbol>;

/** More bytes of a buffer than this are not compared. */
const MAX_BYTES = 4_096;

export function takeSnapshot(roots: readonly Root[], except: Except): Snapshot {
  const seen = new Set<unknown>();
  return roots.map(({ value }) => {
    const objects: Remembered[] = [];
    const pending: object[] = [];
    const meet = (met: unknown): void => {
      if ((typeof met !== "object" || met === null) && typeof met !== "function") return;
      if (seen.has(met)) return;
      seen.add(met);
      if (!isProxy(met)) pending.push(met);
    };
    meet(value);
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      objects.push(remember(next, except, meet));
    }
    return { value, objects };
  });
}

/** The first of the same roots from which something else is reached now: `null` when all is as it was. */
export function findChange(before: Snapshot, roots: readonly Root[], except: Except): Root | null {
  for (const [index, root] of roots.entries()) {
    const reached = before[index];
    if (reached === undefined || !Object.is(reached.value, root.value)) return root;
    // Another object would have to be held by one of these.
    for (const remembered of reached.objects) if (!isAsBefore(remembered, except)) return root;
  }
  return null;
}

/** Tells `meet` each value in the object. */
function remember(object: object, except: Except, meet: (value: unknown) => void): Remembered {
  const prototype = Object.getPrototypeOf(object) as object | null;
  meet(prototype);
  const inside = insideOf(object);
  for (const value of inside) meet(value);
  const keys = keysOf(object);
  let accessors: Accessor[] | undefined;
  const values = keys.map((key): unknown => {
    if (except.has(key)) return ASIDE;
    const { get, set, value } = Reflect.getOwnPropertyDescriptor(object, key)!;
    if (get === undefined && set === undefined) {
      meet(value);
      return value;
    }
    meet(get);
    meet(set);
    (accessors ??= []).push([key, get, set]);
    return ASIDE;
  });
  return { object, prototype, keys, values, accessors: accessors ?? NONE, inside };
}

function isAsBefore(
  { object, prototype, keys, values, accessors, inside }: Remembered,
  except: Except,
): boolean {
  if (Object.getPrototypeOf(object) !== prototype) return false;
  if (!isSame(insideOf(object), inside)) return false;
  const own = keysOf(object);
  if (!isSame(own, keys) && !isSame(...followed(own, keys, except))) return false;
  for (let i = 0; i < keys.length; i++) {
    const before = values[i];
    if (before !== ASIDE && !Object.is(dataOf(object, keys[i]!), before)) return false;
  }
  return accessors.every(([key, get, set]) => {
    const now = Reflect.getOwnPropertyDescriptor(object, key)!;
    return now.get === get && now.set === set;
  });
}

/** A buffer's are its bytes. */
const keysOf = (object: object): readonly Key[] =>
  ArrayBuffer.isView(object) ? NONE : Reflect.ownKeys(object);

/** Not a getter's value: it may have come in the place of another. */
function dataOf(object: object, key: Key): unknown {
  const property = Reflect.getOwnPropertyDescriptor(object, key)!;
  return "value" in property ? property.value : ASIDE;
}

function followed(own: readonly Key[], keys: readonly Key[], except: Except) {
  const isFollowed = (key: Key): boolean => !except.has(key);
  return [own.filter(isFollowed), keys.filter(isFollowed)] as const;
}

function isSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  if (some.length !== others.length) return false;
  for (let i = 0; i < some.length; i++) if (!Object.is(some[i], others[i])) return false;
  return true;
}

function insideOf(object: object): readonly unknown[] {
  if (typeof object === "function") return NONE;
  if (isMap(object)) return [...Map.prototype.entries.call(object)].flat();
  if (isSet(object)) return [...Set.prototype.values.call(object)];
  if (isDate(object)) return [Date.prototype.getTime.call(object)];
  if (!ArrayBuffer.isView(object)) return NONE;
  const bytes = new Uint8Array(object.buffer, object.byteOffset, object.byteLength);
  return [bytes.length, ...bytes.subarray(0, MAX_BYTES)];
}
