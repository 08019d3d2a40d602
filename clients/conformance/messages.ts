/** Leases and messages of the protocol, as both parts of the conformance script compare them. Pure. */
import { isDeepStrictEqual } from "node:util";

/** A message, which may be anything: the script judges it. */
export type Json = any;

export interface Lease {
  id: string;
  attempt: number;
}

export function keyOf({ id, attempt }: Lease): string {
  return `${id}#${attempt}`;
}

export function isSame(one: Json, other: Json): boolean {
  return isDeepStrictEqual(one, other);
}

/** A rule, and whether it was kept. */
export interface Check {
  rule: string;
  isKept: boolean;
  /** Of a broken rule: the message that broke it. */
  detail?: string;
}

export function check(rule: string, isKept: boolean, detail: string): Check {
  return isKept ? { rule, isKept } : { rule, isKept, detail };
}
