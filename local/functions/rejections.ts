/**
 * Errors of app code that no code catches, handed to the call that they belong to: rejections left unhandled, and
 * exceptions of listeners and callbacks that Node calls.
 *
 * Node reports both for the whole process, and ends it by default. A promise made in a sandbox has that sandbox's own
 * `Promise.prototype`: by that it is distinguished from the backend's. Objects that Node made for app code (`fetch`,
 * `Response`, streams, event targets) carry the call in their asynchronous context, where that is followed. The backend's
 * own errors stay bugs.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** The owner of the running code. */
export interface Owner {
  rejected(reason: unknown): void;
}

const realms = new WeakMap<object, () => Owner>();
const calls = new AsyncLocalStorage<Owner | undefined>();
let watchers = 0;
let followers = 0;

let running: Owner | undefined;

/** In virtual time one event happens at a time, and what its code leaves unhandled is told before the next. */
export function runsFor(owner: Owner | undefined): void {
  running = owner;
}

/**
 * From now on asynchronous contexts are followed, so that errors of objects that Node made are their calls' as well.
 * Virtual time does without: Node tells of each promise of the process, which takes a fifth of all computing. Returns the
 * way to stop.
 */
export function followContexts(): () => void {
  followers += 1;
  let following = true;
  return () => {
    if (!following) return;
    following = false;
    if (--followers === 0) calls.disable();
  };
}

/** Promises with this prototype are app code's: of this owner, where no call's context tells. */
export function watchRealm(promisePrototype: object, owner: () => Owner): void {
  realms.set(promisePrototype, owner);
}

/** Runs app code: its later failures, or Node's on its behalf, go to `owner`. */
export function watched<T>(owner: Owner, run: () => T): T {
  return followers > 0 ? calls.run(owner, run) : run();
}

/** Runs the backend's code on behalf of app code: its failures are the backend's again. */
export function unwatched<T>(run: () => T): T {
  // Not `exit`: it takes the hooks off all promises of the process and puts them on again, at every system call.
  return followers > 0 ? calls.run(undefined, run) : run();
}

/** `undefined` for the backend, and where nothing has kept it. */
export function ownerOfCode(): Owner | undefined {
  return calls.getStore();
}

/** Begins to sort. Returns the way to stop. */
export function sortRejections(): () => void {
  if (watchers++ === 0) {
    process.on("unhandledRejection", sort);
    process.on("uncaughtException", sortException);
  }
  let sorting = true;
  return () => {
    if (!sorting) return;
    sorting = false;
    if (--watchers > 0) return;
    process.off("unhandledRejection", sort);
    process.off("uncaughtException", sortException);
  };
}

function sort(reason: unknown, promise: Promise<unknown>): void {
  const realm = realms.get(Object.getPrototypeOf(promise) as object);
  const owner = calls.getStore() ?? realm?.() ?? running;
  if (owner !== undefined) return owner.rejected(reason);
  // By listening, this file has taken Node's default away. It is restored unless another listener exists.
  if (process.listenerCount("unhandledRejection") === 1) throw reason;
}

function sortException(error: unknown): void {
  const owner = calls.getStore() ?? running;
  if (owner !== undefined) return owner.rejected(error);
  if (process.listenerCount("uncaughtException") > 1) return;
  console.error(error);
  process.exit(1);
}
