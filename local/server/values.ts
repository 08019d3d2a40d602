/**
 * Values as HTTP callers get them. `convex_encoded_json` is the format of Convex's clients and loses nothing; `json` is
 * for readers and other languages: 64-bit integers and bytes become strings, and numbers that JSON lacks become names.
 */
import { jsonToConvex, type JSONValue, type Value } from "convex/values";

export type ValueFormat = "json" | "convex_encoded_json";

export function formatValue(value: JSONValue, format: ValueFormat): unknown {
  return format === "convex_encoded_json" ? value : plain(jsonToConvex(value));
}

function plain(value: Value | undefined): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, plain(field)]));
  }
  return value;
}
