/**
 * A validator as text and back: the validator of a queue's results, for the component to check results of handlers that it
 * calls itself. Written by the app, read by the component; both are of the same version of this package, or the row is older.
 */
import {
  convexToJson,
  jsonToConvex,
  v,
  type GenericValidator,
  type JSONValue,
  type Validator,
} from "convex/values";

type Any = Validator<any, "required", any>;
type Written =
  | { kind: "any" | "null" | "float64" | "int64" | "boolean" | "string" | "bytes" }
  | { kind: "id"; table: string }
  | { kind: "literal"; value: JSONValue }
  | { kind: "array"; of: Written }
  | { kind: "record"; key: Written; value: Written }
  | { kind: "union"; members: Written[] }
  | { kind: "object"; fields: Record<string, Written>; optional: string[] };

/** As text; null where there is nothing to check, or more than `maxChars` of it. */
export function writeValidator(validator: GenericValidator, maxChars: number): string | null {
  if (validator.kind === "any") return null;
  const text = JSON.stringify(written(validator as Validator<any, any, any>));
  return text.length > maxChars ? null : text;
}

export function readValidator(text: string): Any {
  return validatorOf(JSON.parse(text) as Written);
}

function written(validator: Validator<any, any, any>): Written {
  switch (validator.kind) {
    case "id":
      return { kind: "id", table: validator.tableName };
    case "literal":
      return { kind: "literal", value: convexToJson(validator.value) };
    case "array":
      return { kind: "array", of: written(validator.element) };
    case "record":
      return { kind: "record", key: written(validator.key), value: written(validator.value) };
    case "union":
      return { kind: "union", members: validator.members.map((one) => written(one)) };
    case "object": {
      const fields = Object.entries(validator.fields as Record<string, Validator<any, any, any>>);
      return {
        kind: "object",
        fields: Object.fromEntries(fields.map(([name, one]) => [name, written(one)])),
        optional: fields.filter(([, one]) => one.isOptional === "optional").map(([name]) => name),
      };
    }
    default:
      return { kind: validator.kind as "any" };
  }
}

function validatorOf(one: Written): Any {
  switch (one.kind) {
    case "id":
      return v.id(one.table);
    case "literal":
      return v.literal(jsonToConvex(one.value) as string);
    case "array":
      return v.array(validatorOf(one.of));
    case "record":
      return v.record(
        validatorOf(one.key) as Validator<string, "required", any>,
        validatorOf(one.value),
      );
    case "union":
      return v.union(...one.members.map(validatorOf));
    case "object":
      return v.object(
        Object.fromEntries(
          Object.entries(one.fields).map(([name, field]) => [
            name,
            one.optional.includes(name) ? v.optional(validatorOf(field)) : validatorOf(field),
          ]),
        ),
      );
    case "float64":
      return v.float64();
    case "int64":
      return v.int64();
    default:
      return v[one.kind]();
  }
}
