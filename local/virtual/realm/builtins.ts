/**
 * Node's modules in a realm: modules that only compute are lent, modules that wait or roll dice are the realm's own.
 */
import assert from "node:assert";
import { Buffer } from "node:buffer";
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import events from "node:events";
import path from "node:path";
import url from "node:url";
import util from "node:util";
import type { chanceGlobals } from "./chance.js";
import type { timeGlobals } from "./time.js";

export interface BuiltinOptions {
  process: object;
  time: ReturnType<typeof timeGlobals>;
  chance: ReturnType<typeof chanceGlobals>;
  /** Of the program: it is its host's name too. */
  name: string;
}

export function builtins({ process, time, chance, name }: BuiltinOptions) {
  const { crypto } = chance;
  const { setTimeout: after, setImmediate: soon } = time;
  const modules: Record<string, unknown> = {
    assert,
    buffer: { Buffer },
    crypto: {
      createHash,
      createHmac,
      timingSafeEqual,
      randomUUID: crypto.randomUUID,
      randomBytes: (length: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(length))),
      getRandomValues: crypto.getRandomValues,
      webcrypto: crypto,
    },
    events,
    os: { hostname: () => name, platform: () => "linux", cpus: () => [{}], EOL: "\n" },
    path,
    process,
    timers: time,
    "timers/promises": {
      setTimeout: (ms: number, value?: unknown) =>
        new Promise((resolve) => void after(() => resolve(value), ms)),
      setImmediate: (value?: unknown) => new Promise((resolve) => void soon(() => resolve(value))),
    },
    url,
    util,
  };
  return (specifier: string): unknown => {
    const found = modules[specifier.replace(/^node:/, "")];
    if (found !== undefined) return found;
    throw new Error(
      `"${specifier}" is not there in virtual time. Programs there may use ${Object.keys(modules).join(", ")}.`,
    );
  };
}
