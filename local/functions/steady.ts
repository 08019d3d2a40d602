/**
 * Globals with results that come at the machine's pace, in a form that depends on nothing but the call's own clock: so
 * one seed replays a function that uses them.
 */
import zlib from "node:zlib";
import type { Host } from "./host.js";

type Format = "gzip" | "deflate" | "deflate-raw";
type Convert = (data: Uint8Array) => Uint8Array;

const COMPRESS: Record<Format, Convert> = {
  gzip: zlib.gzipSync,
  deflate: zlib.deflateSync,
  "deflate-raw": zlib.deflateRawSync,
};
const DECOMPRESS: Record<Format, Convert> = {
  gzip: zlib.gunzipSync,
  deflate: zlib.inflateSync,
  "deflate-raw": zlib.inflateRawSync,
};

/** Node's own compress on other threads. Here all of it comes at the end. */
function converter(name: string, converts: Record<Format, Convert>) {
  const type = class extends TransformStream<BufferSource, Uint8Array> {
    constructor(format: Format) {
      const convert = converts[format] as Convert | undefined;
      if (convert === undefined)
        throw new TypeError(`${name} knows no format "${String(format)}".`);
      const chunks: Buffer[] = [];
      super({
        transform: (chunk) => void chunks.push(bytesOf(chunk)),
        flush: (controller) => {
          controller.enqueue(new Uint8Array(convert(Buffer.concat(chunks))));
        },
      });
    }
  };
  Object.defineProperty(type, "name", { value: name });
  return type;
}

function bytesOf(chunk: BufferSource): Buffer {
  return ArrayBuffer.isView(chunk)
    ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    : Buffer.from(chunk);
}

/** For modules that say "use node": the platform's own runtime has none. */
export const compressors = {
  CompressionStream: converter("CompressionStream", COMPRESS),
  DecompressionStream: converter("DecompressionStream", DECOMPRESS),
};

/** The moment of a garbage collection is not under control. As on the platform: nothing is ever seen to be. */
class SteadyWeakRef<T extends WeakKey> {
  readonly #target: T;

  constructor(target: T) {
    this.#target = target;
  }

  deref(): T {
    return this.#target;
  }
}

class SteadyFinalizationRegistry {
  register(): void {}

  unregister(): boolean {
    return false;
  }
}

export function steadyGlobals(host: () => Host): Record<string, unknown> {
  return {
    AbortSignal: timedSignals(host),
    WeakRef: SteadyWeakRef,
    FinalizationRegistry: SteadyFinalizationRegistry,
  };
}

/** `AbortSignal.timeout` is a timer, so only actions have it. */
function timedSignals(host: () => Host): typeof AbortSignal {
  const timeout = (ms: number): AbortSignal => {
    const controller = new AbortController();
    host()
      .effects("AbortSignal.timeout")
      .setTimer(ms, false, () =>
        controller.abort(
          new DOMException("The operation was aborted due to timeout", "TimeoutError"),
        ),
      );
    return controller.signal;
  };
  return new Proxy(AbortSignal, {
    get: (target, name) => (name === "timeout" ? timeout : (Reflect.get(target, name) as unknown)),
  });
}
