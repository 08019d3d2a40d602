/** Questions about values that came from outside as JSON. */

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}

/** As a Map is written: `[["name", value], …]`. */
export function isPairs<T>(
  value: unknown,
  isRight: (right: unknown) => right is T,
): value is [string, T][] {
  return (
    Array.isArray(value) &&
    value.every(
      (pair: unknown) =>
        Array.isArray(pair) && pair.length === 2 && isText(pair[0]) && isRight(pair[1]),
    )
  );
}
