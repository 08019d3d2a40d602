/**
 * The globals that functions find: the platform's, each bound to the call that runs (`host()`).
 *
 * A fresh `vm` context has the language's own objects and nothing else. Additions come from Node's realm, with two
 * consequences that this file takes care of. Values checked with `instanceof` must have one constructor on both sides:
 * so buffers and typed arrays inside *are* Node's. And an error thrown by a function that is added here must be the
 * sandbox's own: so `Date`, `Math` and errors are taken from inside (`Realm`). An error that Node's own functions
 * throw, such as `URL`'s, is of Node's realm, and counts as an instance of the sandbox's error of the same name.
 */
import { createRequire } from "node:module";
import vm from "node:vm";
import type { JSONValue } from "convex/values";
import { createConsole } from "./console.js";
import { createCrypto } from "./crypto.js";
import { EffectRefused, type Host } from "./host.js";
import { requireArguments } from "./json.js";
import { jsSyscall } from "./jsSyscalls.js";
import { compressors, steadyGlobals } from "./steady.js";
import { unwatched } from "./rejections.js";

/** The sandbox's own copies of the language's objects that are changed or made here. */
export interface Realm {
  Date: DateConstructor;
  Math: Math;
  Error: ErrorConstructor;
  TypeError: TypeErrorConstructor;
  Promise: PromiseConstructor;
}

/** Subclasses keep to their own: only the error itself takes in its namesake. */
function takeErrorsOf(context: vm.Context): void {
  const take = vm.runInContext(
    `(own, isTheirs) => {
      const isOwn = Function.prototype[Symbol.hasInstance];
      Object.defineProperty(own, Symbol.hasInstance, {
        value(error) { return isOwn.call(this, error) || (this === own && isTheirs(error)); },
      });
    }`,
    context,
  ) as (own: unknown, isTheirs: (error: unknown) => boolean) => void;
  for (const theirs of [Error, TypeError, RangeError, SyntaxError]) {
    take(vm.runInContext(theirs.name, context), (error) => error instanceof theirs);
  }
}

/** One constructor on both sides, or `convex/values` would not know an `ArrayBuffer` that a digest returned. */
const SHARED_CONSTRUCTORS = [
  ArrayBuffer,
  SharedArrayBuffer,
  DataView,
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
];

/** The platform's own, and no more of the Web's (udf-runtime/src/setup.ts). Pure, so safe to lend as they are. */
const WEB_GLOBALS = [
  "AbortController",
  "Blob",
  "DOMException",
  "Event",
  "EventTarget",
  "File",
  "FormData",
  "Headers",
  "ReadableStream",
  "ReadableStreamBYOBReader",
  "ReadableStreamDefaultReader",
  "Request",
  "Response",
  "TextDecoder",
  "TextDecoderStream",
  "TextEncoder",
  "TextEncoderStream",
  "TransformStream",
  "URL",
  "URLSearchParams",
  "WritableStream",
  "WritableStreamDefaultWriter",
  "atob",
  "btoa",
  "structuredClone",
] as const;

export interface GlobalsOptions {
  host: () => Host;
  /** `process.env`. */
  env: ReadonlyMap<string, string>;
  onMissingVariable?: (name: string) => void;
  /** Modules that say "use node" also find Node's own globals. */
  node: boolean;
}

function environment({ env, onMissingVariable }: GlobalsOptions): Record<string, string> {
  const variables = Object.fromEntries(env);
  if (onMissingVariable === undefined) return variables;
  return new Proxy(variables, {
    get(target, name) {
      if (typeof name === "string" && !(name in target)) onMissingVariable(name);
      return Reflect.get(target, name) as string;
    },
  });
}

export function installGlobals(context: vm.Context, options: GlobalsOptions): Realm {
  const { host } = options;
  const realm = vm.runInContext("({ Date, Math, Error, TypeError, Promise })", context) as Realm;
  takeErrorsOf(context);
  const define = (name: string, value: unknown) =>
    Object.defineProperty(context, name, { value, writable: true, configurable: true });

  for (const constructor of SHARED_CONSTRUCTORS) define(constructor.name, constructor);
  for (const name of WEB_GLOBALS) define(name, (globalThis as Record<string, unknown>)[name]);
  define("self", context);
  define("console", createConsole(host));
  define("crypto", createCrypto(host, realm));
  define("performance", { now: () => host().performanceNow(), timeOrigin: 0 });
  define("process", { env: environment(options) });
  define("Convex", bindSyscalls(host, realm));
  define(
    "Date",
    clockedDate(realm.Date, () => host().now()),
  );
  realm.Math.random = () => host().random();
  trackCompilers(context, host);
  for (const [name, value] of Object.entries(steadyGlobals(host))) define(name, value);
  for (const [name, effect] of Object.entries(effects(host, realm))) define(name, effect);
  if (options.node) installNode(define, options.env, realm);
  return realm;
}

/** V8 compiles on other threads: a call that waits for it says so. */
function trackCompilers(context: vm.Context, host: () => Host): void {
  const { WebAssembly } = vm.runInContext("({ WebAssembly })", context) as {
    WebAssembly: Record<string, (...args: unknown[]) => Promise<unknown>>;
  };
  for (const name of ["compile", "instantiate"]) {
    const compile = WebAssembly[name]!;
    WebAssembly[name] = (...args) => host().outside(compile.apply(WebAssembly, args));
  }
}

/** `Date` with another clock; everything that is given a time stays the language's. */
function clockedDate(real: DateConstructor, now: () => number): DateConstructor {
  real.now = now;
  const clocked = new Proxy(real, {
    construct: (target, args: unknown[], newTarget: DateConstructor) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
    apply: () => new real(now()).toString(),
  });
  real.prototype.constructor = clocked;
  return clocked;
}

/** `Convex.*`, through which `convex/server` reaches the platform. A thrown value must be an error of the sandbox. */
function bindSyscalls(host: () => Host, realm: Realm): Record<string, unknown> {
  return {
    syscall: (operation: string, args: string) =>
      inRealm(realm, () => {
        requireArguments(args);
        return host().syscall(operation, args);
      }),
    asyncSyscall: (operation: string, args: string) => {
      const caller = host();
      inRealm(realm, () => requireArguments(args));
      return unwatched(() => caller.asyncSyscall(operation, args));
    },
    jsSyscall: (operation: string, args: Record<string, unknown>) => {
      // Its later parts still belong to the call that made it.
      const caller = host();
      const call = (name: string, json: JSONValue) =>
        unwatched(() => caller.asyncSyscall(name, JSON.stringify(json))).then(
          (answer) => JSON.parse(answer) as unknown,
        );
      const answer = inRealm(realm, () => jsSyscall(operation, args, call));
      if (!(answer instanceof Promise)) return answer;
      return answer.catch((error: Error) => {
        throw new realm.Error(error.message);
      });
    },
  };
}

/**
 * Where there are no timers, to set one is a rejection that no code can listen to, and so the end of the call, and to
 * clear one is nothing (udf-runtime/src/02_timers.ts).
 */
function effects(host: () => Host, realm: Realm): Record<string, unknown> {
  const allowed = <T>(run: () => T, refused: (error: Error) => T): T =>
    inRealm(realm, () => {
      try {
        return run();
      } catch (error) {
        if (!(error instanceof EffectRefused)) throw error;
        return refused(new realm.Error(error.message));
      }
    });
  const setTimer =
    (name: string, repeat: boolean) =>
    (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
      allowed(
        () =>
          host()
            .effects(name)
            .setTimer(ms, repeat, () => run(...args)),
        (error) => {
          void realm.Promise.reject(error);
          return 0;
        },
      );
  const clearTimer =
    (name: string) =>
    (id?: number): void => {
      if (id === undefined) return;
      allowed(
        () => host().effects(name).clearTimer(id),
        () => undefined,
      );
    };
  return {
    setTimeout: setTimer("setTimeout", false),
    setInterval: setTimer("setInterval", true),
    clearTimeout: clearTimer("clearTimeout"),
    clearInterval: clearTimer("clearInterval"),
    fetch: (...args: Parameters<typeof fetch>) =>
      allowed(
        () => {
          const { fetch: start } = host().effects("fetch");
          return host().track(start(...args));
        },
        (error) => realm.Promise.reject(error),
      ),
  };
}

/**
 * Runs the backend's code; its exception becomes the sandbox's error, so that `instanceof Error` holds for code inside.
 */
export function inRealm<T>(realm: Pick<Realm, "Error">, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new realm.Error(error instanceof Error ? error.message : String(error));
  }
}

/** Node's own globals. Its `process` is lent with the app's variables in place of the machine's. */
function installNode(
  define: (name: string, value: unknown) => void,
  variables: ReadonlyMap<string, string>,
  realm: Realm,
): void {
  const env = Object.fromEntries(variables);
  define("CustomEvent", CustomEvent);
  for (const [name, value] of Object.entries(compressors)) define(name, value);
  // Node's own would end the process with the callback's exception.
  define("queueMicrotask", (run: () => void) => void realm.Promise.resolve().then(() => run()));
  define("global", globalThis);
  define("Buffer", Buffer);
  define("setImmediate", setImmediate);
  define("clearImmediate", clearImmediate);
  define("require", createRequire(import.meta.url));
  define("process", Object.create(process, { env: { value: env, enumerable: true } }));
}
