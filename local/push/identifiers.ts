/**
 * Names of fields in validators: of schemas, arguments and return values alike. A document may have other names, which
 * a record or `v.any()` allows. convex/sync_types/src/identifier.rs: is_valid_identifier;
 * common/src/schemas/json.rs:813.
 */
import type { ValidatorJSON } from "convex/values";

const MAX_LENGTH = 64;
const IDENTIFIER = /^(?=.*[A-Za-z0-9])[A-Za-z_][A-Za-z0-9_]*$/;

/** Throws an `Error` that names the first field that is no identifier. */
export function requireIdentifiers(validator: ValidatorJSON): void {
  switch (validator.type) {
    case "object":
      for (const [name, { fieldType }] of Object.entries(validator.value)) {
        if (!IDENTIFIER.test(name) || name.length > MAX_LENGTH) {
          throw new Error(
            `"${name}" cannot be a field's name. A field that a validator names begins with a letter or an underscore, ` +
              `and has at most ${MAX_LENGTH} letters, digits and underscores; other names are for v.record().`,
          );
        }
        requireIdentifiers(fieldType);
      }
      return;
    case "array":
      return requireIdentifiers(validator.value);
    case "record":
      requireIdentifiers(validator.keys);
      return requireIdentifiers(validator.values.fieldType);
    case "union":
      return validator.value.forEach(requireIdentifiers);
    default:
  }
}
