/** The globals of a realm that roll dice, or give results at a time of their own. */
import type { Branch } from "../branch.js";

export function chanceGlobals(place: Branch) {
  const uuid = (): string => {
    const bytes = place.randomBytes(16);
    // Version 4, variant 1: RFC 9562, section 5.4.
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    const hex = Buffer.from(bytes).toString("hex");
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  };
  return {
    Math: Object.assign(Object.create(Math) as typeof Math, { random: () => place.random() }),
    crypto: {
      randomUUID: uuid,
      getRandomValues: <View extends ArrayBufferView>(view: View): View => {
        const target = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
        target.set(place.randomBytes(view.byteLength));
        return view;
      },
      subtle: steadySubtle(place),
    },
    // Memory is never collected: nothing ever is, as far as a program can see.
    WeakRef: class WeakRef<T extends WeakKey> {
      constructor(private readonly target: T) {}
      deref(): T {
        return this.target;
      }
    },
    FinalizationRegistry: class FinalizationRegistry {
      register(): void {}
      unregister(): boolean {
        return false;
      }
    },
  };
}

/** Runs on other threads: results come in the order of asking. Keys would be made from the machine's own randomness. */
function steadySubtle(place: Branch): SubtleCrypto {
  return new Proxy(crypto.subtle, {
    get: (subtle, name) => {
      const method: unknown = Reflect.get(subtle, name, subtle);
      if (typeof method !== "function") return method;
      if (name === "generateKey") {
        return () =>
          Promise.reject(
            new Error("crypto.subtle.generateKey has no seed. In virtual time, import a key."),
          );
      }
      return (...args: unknown[]) => place.outside(Promise.resolve(method.apply(subtle, args)));
    },
  });
}
