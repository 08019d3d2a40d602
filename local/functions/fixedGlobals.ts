/**
 * Names the language's own objects once more, in the scope of scripts, where V8 finds them at once. A context's global
 * object is asked through Node each time, which takes a third of a microsecond, and code that turns values into JSON names
 * `Array`, `Object` or `Number` for every value.
 *
 * A name fixed here keeps the value that it had when the context was made: code that replaces the value on the global
 * object would go on with the old one, so the owner of the context checks for replacements (`replaced`).
 */
import vm from "node:vm";

const NAMES = [
  "Array",
  "ArrayBuffer",
  "BigInt",
  "Boolean",
  "Convex",
  "DataView",
  "Date",
  "Error",
  "JSON",
  "Map",
  "Math",
  "Number",
  "Object",
  "Promise",
  "Reflect",
  "RegExp",
  "Set",
  "String",
  "Symbol",
  "TypeError",
  "Uint8Array",
  "WeakMap",
  "parseInt",
];

export interface FixedGlobals {
  /** The first that is another on the global object; `null` when none is. */
  replaced(): string | null;
}

export function fixGlobals(context: vm.Context): FixedGlobals {
  const list = NAMES.map((name) => `${name} = globalThis.${name}`).join(", ");
  vm.runInContext(`const ${list};`, context);
  const replaced = vm.runInContext(
    `(() => {
      const global = globalThis;
      const fixed = new Map([${NAMES.map((name) => `["${name}", ${name}]`).join(", ")}]);
      return () => {
        for (const [name, value] of fixed) if (global[name] !== value) return name;
        return null;
      };
    })()`,
    context,
  ) as () => string | null;
  return { replaced };
}
