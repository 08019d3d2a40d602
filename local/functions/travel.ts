/**
 * Values on their way between functions, in JSON: how big they are as the platform counts, and whether their shape is one
 * that it carries. One walk, since every call makes two.
 */
import type { JSONValue } from "convex/values";
import type { Limits } from "../limits.js";
import { FunctionError } from "./errors.js";

type ShapeLimits = Pick<Limits, "valueNesting" | "objectFields" | "arrayLength">;

/**
 * Bytes as `getConvexSize` counts them. Throws for a shape that no value may have; `what` is the value's name in the
 * error.
 */
export function travelBytes(json: JSONValue, what: string, limits: ShapeLimits): number {
  return bytesOf(json, 1);

  function bytesOf(value: JSONValue | undefined, depth: number): number {
    if (value === null || value === undefined || typeof value === "boolean") return 1;
    if (typeof value === "number") return 9;
    if (typeof value === "string") return Buffer.byteLength(value) + 2;
    const special = specialBytes(value);
    if (special !== null) return special;
    if (depth > limits.valueNesting) {
      throw new FunctionError(
        `${what}: Value is too nested (nested more than ${limits.valueNesting} levels deep, the maximum nesting). ` +
          `Flatten it, or pass it as a string.`,
      );
    }
    return Array.isArray(value) ? arrayBytes(value, depth) : objectBytes(value, depth);
  }

  function arrayBytes(elements: JSONValue[], depth: number): number {
    if (elements.length > limits.arrayLength) {
      throw new FunctionError(
        `${what}: Array length is too long (${elements.length} > maximum length ${limits.arrayLength}). ` +
          `Pass its elements in several calls, or store them and pass where they are.`,
      );
    }
    return elements.reduce<number>((sum, element) => sum + bytesOf(element, depth + 1), 2);
  }

  function objectBytes(object: { [field: string]: JSONValue | undefined }, depth: number): number {
    const fields = Object.entries(object);
    if (fields.length > limits.objectFields) {
      throw new FunctionError(
        `${what}: Object has too many fields (${fields.length} > maximum number ${limits.objectFields}). ` +
          `Pass an array of its entries.`,
      );
    }
    return fields.reduce(
      (sum, [name, field]) => sum + name.length + 1 + bytesOf(field, depth + 1),
      2,
    );
  }
}

/** Values that JSON has no form of its own for travel as objects of one field. */
function specialBytes(value: object): number | null {
  if (Array.isArray(value)) return null;
  for (const name in value) {
    if (!name.startsWith("$")) return null;
    if (name !== "$bytes") return 9;
    const base64 = (value as { $bytes: unknown }).$bytes;
    return typeof base64 === "string" ? Buffer.byteLength(base64, "base64") + 2 : 2;
  }
  return null;
}

/** As the platform prints sizes: `16.01 MiB`. */
export function binarySize(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  const power = bytes < 1024 ? 0 : Math.min(3, Math.floor(Math.log2(bytes) / 10));
  return `${Number((bytes / 1024 ** power).toFixed(2))} ${units[power]}`;
}
