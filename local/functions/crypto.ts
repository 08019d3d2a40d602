/** `crypto` inside a sandbox: randomness from the call's seed, digests and signatures from Node. */
import type { Host } from "./host.js";
import type { Realm } from "./globals.js";
import { inRealm } from "./globals.js";
import { smallDigest } from "./smallDigest.js";

/** Web Crypto's own limit for one call of `getRandomValues`. */
const MAX_RANDOM_BYTES = 65_536;

export function createCrypto(host: () => Host, realm: Pick<Realm, "Error">): object {
  return {
    getRandomValues: <T extends ArrayBufferView>(view: T): T =>
      inRealm(realm, () => {
        if (view.byteLength > MAX_RANDOM_BYTES) {
          throw new Error(
            `getRandomValues fills at most ${MAX_RANDOM_BYTES} bytes a call, not ${view.byteLength}`,
          );
        }
        const target = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
        target.set(host().randomBytes(view.byteLength));
        return view;
      }),
    randomUUID: () => uuid(host().randomBytes(16)),
    subtle: trackedSubtle(host, realm),
  };
}

/** Version 4, variant 1, as RFC 9562 section 5.4 lays the bits out. */
function uuid(bytes: Uint8Array): string {
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join("-");
}

/** Large digests, and all but digests, run on other threads: the call says that it waits for one. New keys would be randomness without a seed. */
function trackedSubtle(host: () => Host, realm: Pick<Realm, "Error">): SubtleCrypto {
  return new Proxy(crypto.subtle, {
    get: (subtle, name) => {
      const method: unknown = Reflect.get(subtle, name, subtle);
      if (typeof method !== "function") return method;
      return (...args: unknown[]) => {
        if (name === "generateKey")
          inRealm(realm, () => host().effects("crypto.subtle.generateKey"));
        const small = name === "digest" ? smallDigest(args[0], args[1]) : undefined;
        if (small !== undefined) return host().track(Promise.resolve(small));
        return host().outside(Promise.resolve(method.apply(subtle, args)));
      };
    },
  });
}
