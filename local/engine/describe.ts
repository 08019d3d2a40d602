/** Values and validators as the platform prints them in error messages: `{count: 1.0}`, `v.object({count: v.int64()})`. */
import { CommitTsPlaceholder, jsonToConvex, type Value, type ValidatorJSON } from "convex/values";

/** A document may be a megabyte; its picture in an error need not be. The official client cuts at the same length. */
const MAX_PICTURE_LENGTH = 16_384;

export function describeValue(value: Value | undefined): string {
  const picture = fullPicture(value);
  return picture.length > MAX_PICTURE_LENGTH
    ? `${picture.slice(0, MAX_PICTURE_LENGTH)}[...truncated]`
    : picture;
}

function fullPicture(value: Value | undefined): string {
  if (value === undefined) return "undefined";
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") return describeFloat(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (value instanceof CommitTsPlaceholder) return String(value);
  if (value instanceof ArrayBuffer) return `<${value.byteLength} bytes>`;
  if (Array.isArray(value)) return `[${value.map(fullPicture).join(", ")}]`;
  const fields = sorted(value).filter(([, inner]) => inner !== undefined);
  return `{${fields.map(([name, inner]) => `${name}: ${fullPicture(inner)}`).join(", ")}}`;
}

/** Floats show that they are floats, since an int64 of the same number is another value. */
function describeFloat(value: number): string {
  const digits = Object.is(value, -0) ? "-0" : String(value);
  return /^-?\d+$/.test(digits) ? `${digits}.0` : digits;
}

export function describeValidator(validator: ValidatorJSON): string {
  switch (validator.type) {
    case "number":
      return "v.float64()";
    case "bigint":
      return "v.int64()";
    case "id":
      return `v.id("${validator.tableName}")`;
    case "literal":
      return `v.literal(${describeValue(jsonToConvex(validator.value))})`;
    case "array":
      return `v.array(${describeValidator(validator.value)})`;
    case "record":
      return `v.record(${describeValidator(validator.keys)}, ${describeValidator(validator.values.fieldType)})`;
    case "union":
      return `v.union(${validator.value.map(describeValidator).join(", ")})`;
    case "object":
      return `v.object({${sorted(validator.value).map(describeField).join(", ")}})`;
    default:
      return `v.${validator.type}()`;
  }
}

function describeField([name, field]: [
  string,
  { fieldType: ValidatorJSON; optional: boolean },
]): string {
  const type = describeValidator(field.fieldType);
  return `${name}: ${field.optional ? `v.optional(${type})` : type}`;
}

function sorted<T>(object: { [name: string]: T }): [string, T][] {
  return Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
}
