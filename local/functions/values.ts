/** Values as they cross between JSON and the engine, and the checks that happen there. */
import {
  convexToJson,
  jsonToConvex,
  type JSONValue,
  type Value,
  type ValidatorJSON,
} from "convex/values";
import type { Transaction, Ts } from "../engine/types.js";
import { checkValue } from "../engine/validators.js";
import { FunctionError } from "./errors.js";
import { runsInNode, type Target } from "./lookup.js";
import { binarySize, travelBytes } from "./travel.js";
import type { AnalyzedFunction } from "./types.js";

interface Validators {
  args: ValidatorJSON;
  /** `null` checks nothing. */
  returns: ValidatorJSON | null;
}

const parsed = new WeakMap<AnalyzedFunction, Validators>();

function validatorsOf(analyzed: AnalyzedFunction): Validators {
  const known = parsed.get(analyzed);
  if (known !== undefined) return known;
  const validators = {
    args: JSON.parse(analyzed.args) as ValidatorJSON,
    returns: JSON.parse(analyzed.returns) as ValidatorJSON | null,
  };
  parsed.set(analyzed, validators);
  return validators;
}

/**
 * Refuses arguments that the function's validator does not accept. Ids must be of the callee's own tables. Only a call
 * inside a mutation's transaction may pass the commit timestamp's placeholder on (udf/src/validation.rs:
 * PendingArgsPolicy).
 */
export function checkArguments(
  target: Target,
  args: JSONValue,
  tx: Transaction,
  { nested }: { nested: boolean },
): void {
  const { argumentBytes, nodeArgumentBytes } = tx.global;
  const what = `Arguments for ${target.address.path}`;
  const limit = runsInNode(target) ? nodeArgumentBytes : argumentBytes;
  const bytes = travelBytes([args], what, tx.global);
  if (bytes > limit) {
    throw new FunctionError(
      `${what} are too large (actual: ${binarySize(bytes)}, limit: ${binarySize(limit)}). ` +
        `Pass less at once, or store it and pass where it is.`,
    );
  }
  const { address, analyzed } = target;
  const value = argumentOf(address.path, args, nested);
  const tableOf = (id: string) => tx.tableOf(address.namespace, id);
  const problem = checkValue(validatorsOf(analyzed).args, value, "", tableOf);
  if (problem !== null) throw new FunctionError(`ArgumentValidationError: ${problem}`);
}

function argumentOf(path: string, args: JSONValue, nested: boolean): Value {
  try {
    if (!nested && holdsCommitTs(args)) {
      throw new Error("Field name $commitTs starts with '$', which is reserved.");
    }
    return jsonToConvex(args);
  } catch (error) {
    throw new FunctionError(`Invalid arguments for ${path}: ${(error as Error).message}`);
  }
}

/** Refuses an oversized result of a function, before its value is checked. */
export function requireResult(target: Target, value: JSONValue, tx: Transaction): void {
  const { resultBytes } = tx.global;
  const what = `Function ${target.address.path} return value`;
  const bytes = travelBytes(value, what, tx.global);
  if (bytes <= resultBytes) return;
  throw new FunctionError(
    `${what} is too large (actual: ${binarySize(bytes)}, limit: ${binarySize(resultBytes)}). ` +
      `Return less at once, a page say, or store it and return where it is.`,
  );
}

export function checkReturns(target: Target, value: JSONValue, tx: Transaction): void {
  const { returns } = validatorsOf(target.analyzed);
  if (returns === null) return;
  const problem = mismatch(returns, value, target, tx);
  if (problem !== null) throw new FunctionError(`ReturnsValidationError: ${problem}`);
}

function mismatch(
  validator: ValidatorJSON,
  json: JSONValue,
  { address: { namespace } }: Target,
  tx: Transaction,
): string | null {
  let value: Value;
  try {
    value = jsonToConvex(json);
  } catch (error) {
    return (error as Error).message;
  }
  return checkValue(validator, value, "", (id) => tx.tableOf(namespace, id));
}

export function toFields(json: JSONValue): Record<string, Value> {
  return jsonToConvex(json) as Record<string, Value>;
}

/** A patch may say `undefined` at its top, to remove a field. */
export function toPatch(json: JSONValue): Record<string, Value | undefined> {
  return Object.fromEntries(
    Object.entries(json as Record<string, JSONValue>).map(([field, value]) => [
      field,
      isMarker(value, "$undefined") ? undefined : jsonToConvex(value),
    ]),
  );
}

/** Whether a commit timestamp's placeholder lies in it, which only its own transaction can make sense of. */
export function holdsCommitTs(json: JSONValue): boolean {
  if (json === null || typeof json !== "object") return false;
  if (isMarker(json, "$commitTs")) return true;
  return Object.values(json).some((part) => part !== undefined && holdsCommitTs(part));
}

/** The value as its readers will see it: each placeholder is the timestamp of the commit. */
export function resolveCommitTs(json: JSONValue, ts: Ts): JSONValue {
  if (json === null || typeof json !== "object") return json;
  if (isMarker(json, "$commitTs")) return convexToJson(ts);
  if (Array.isArray(json)) return json.map((part) => resolveCommitTs(part, ts));
  return Object.fromEntries(
    Object.entries(json).map(([field, part]) => [field, resolveCommitTs(part, ts)]),
  );
}

function isMarker(json: JSONValue, marker: string): boolean {
  if (json === null || typeof json !== "object" || Array.isArray(json)) return false;
  return marker in json && Object.keys(json).length === 1;
}
