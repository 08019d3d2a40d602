/**
 * Checks of names, numbers and lists that come from outside, used where queues are declared and again where calls
 * arrive. Pure. Each throws `invalidArgument` with the rule, the value and the way out.
 */
import { conveyorError } from "./errors.js";
import { ID_MAX_LENGTH, NAME_MAX_LENGTH } from "./limits.js";
import { isWellFormed, textBytes } from "./text.js";
import { kindOf } from "./values.js";

const NAME = new RegExp(`^[A-Za-z0-9_-]{1,${NAME_MAX_LENGTH}}$`);

/** A whole number within bounds. */
export function checkInteger(what: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw conveyorError(
    "invalidArgument",
    `${what} must be a whole number from ${min} to ${max}; got ${value}.`,
    { argument: what, got: value, min, max },
  );
}

/** A number within bounds, whole or not. */
export function checkNumber(what: string, value: number, min: number, max: number): void {
  if (typeof value === "number" && value >= min && value <= max) return;
  throw conveyorError(
    "invalidArgument",
    `${what} must be a number from ${min} to ${max}; got ${value}.`,
    { argument: what, got: value, min, max },
  );
}

/** One of some words: the wire has a validator for it, a definition in code without types has not. */
export function checkWord<Word extends string>(
  what: string,
  word: Word,
  words: readonly Word[],
): void {
  if (words.includes(word)) return;
  const quoted = words.map((one) => JSON.stringify(one));
  throw conveyorError(
    "invalidArgument",
    `${what} must be ${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}; got ${JSON.stringify(word)}.`,
    { argument: what, got: String(word) },
  );
}

/** A list as a copy: code without types may pass a text, each letter of which would be an element, or nothing. */
export function listOf<T>(what: string, list: Iterable<T>): T[] {
  const given = list as Iterable<T> | string | null | undefined;
  if (typeof given === "object" && typeof given?.[Symbol.iterator] === "function")
    return [...given];
  throw noList(what, given);
}

/** The same for an option that may be left out. */
export function listIfGiven<T>(what: string, list: Iterable<T> | undefined): T[] | undefined {
  return list === undefined ? undefined : listOf(what, list);
}

function noList(what: string, given: unknown): Error {
  return wrongKind(what, "a list", given, "Pass an array, also of one element.");
}

/** A value of another kind than its type says, from code without types. `instead` says what to do. */
export function wrongKind(what: string, kind: string, given: unknown, instead: string): Error {
  const got = kindOf(given);
  return conveyorError("invalidArgument", `${what} must be ${kind}; got ${got}. ${instead}`, {
    argument: what,
    got,
  });
}

/** A list of so many items. */
export function checkLength(
  what: string,
  list: readonly unknown[],
  min: number,
  max: number,
): void {
  if (!Array.isArray(list)) throw noList(what, list);
  if (list.length >= min && list.length <= max) return;
  throw conveyorError(
    "invalidArgument",
    `${what} must have ${min} to ${max} items; got ${list.length}. ` +
      (list.length > max
        ? "Split it into several calls."
        : "Where there is nothing to say, leave it out."),
    { argument: what, got: list.length, min, max },
  );
}

/**
 * A list of `min` to `max` leases, or of reports about them. An id that names no job is no error; a value that cannot be an id
 * is.
 */
export function checkLeases(
  what: string,
  list: readonly { id: string }[],
  min: number,
  max: number,
): void {
  checkLength(what, list, min, max);
  const long = list.find(({ id }) => textBytes(id) > ID_MAX_LENGTH);
  if (long === undefined) return;
  throw conveyorError(
    "invalidArgument",
    `An id has at most ${ID_MAX_LENGTH} bytes; got one of ${textBytes(long.id)}. Pass ids as a claim returned them.`,
    { argument: "id", got: long.id.slice(0, 100), max: ID_MAX_LENGTH },
  );
}

/** A name of letters, digits, `_` and `-`. */
export function checkName(what: string, name: string): void {
  if (typeof name === "string" && NAME.test(name)) return;
  const cut = String(name).slice(0, 100);
  throw conveyorError(
    "invalidArgument",
    `${what} must be 1 to ${NAME_MAX_LENGTH} letters, digits, "_" or "-"; got ${JSON.stringify(cut)}.`,
    { argument: what, got: cut },
  );
}

/** A text for people: not blank, short, and of whole characters, since no call carries half of one. */
export function checkLabel(what: string, label: string, maxLength: number = NAME_MAX_LENGTH): void {
  if (typeof label !== "string")
    throw wrongKind(what, "a text", label, "Pass a string, or leave it out.");
  const isShort = label.trim() !== "" && label.length <= maxLength;
  if (isShort && isWellFormed(label)) return;
  const cut = label.slice(0, 100);
  throw conveyorError(
    "invalidArgument",
    isShort
      ? `${what} must have whole characters; got ${JSON.stringify(cut)}, with half of one. Cut texts between characters.`
      : `${what} must be 1 to ${maxLength} characters and not blank; got ${JSON.stringify(cut)}` +
          (label.length > maxLength ? `, of ${label.length} characters.` : "."),
    { argument: what, got: cut, max: maxLength },
  );
}
