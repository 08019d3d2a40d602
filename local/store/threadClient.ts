/** The other end of the store's thread: starts it, asks, and says when it is gone. */
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { StoreClosedError } from "../engine/store.js";
import { StoreError } from "./errors.js";
import type { Operation, Operations, ThreadReply, ThreadRequest } from "./messages.js";

interface Waiting {
  resolve: (answer: never) => void;
  reject: (error: unknown) => void;
}

export class StoreThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #requests = 0;
  #ended: StoreClosedError | null = null;

  static async start(): Promise<StoreThread> {
    return new StoreThread(await script());
  }

  private constructor(source: string) {
    this.#worker = new Worker(source, { eval: true, workerData: { from: import.meta.url } });
    this.#worker.unref();
    this.#worker.on("message", (reply: ThreadReply) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#end(`The store's thread failed: ${error.message}`));
    this.#worker.on("exit", () => this.#end("The store is closed: nothing is kept any more."));
  }

  ask<Name extends Operation>(
    operation: Name,
    argument: Operations[Name][0],
  ): Promise<Operations[Name][1]> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== null) return reject(this.#ended);
      const id = ++this.#requests;
      this.#waiting.set(id, { resolve, reject });
      // Only while a request waits for it does the thread keep the process alive.
      this.#worker.ref();
      this.#worker.postMessage({ id, operation, argument } satisfies ThreadRequest);
    });
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #settle(reply: ThreadReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (this.#waiting.size === 0) this.#worker.unref();
    if ("answer" in reply) return waiting?.resolve(reply.answer as never);
    const { code, message } = reply.error;
    waiting?.reject(code === null ? new Error(message) : new StoreError(code, message));
  }

  #end(message: string): void {
    this.#ended ??= new StoreClosedError(message);
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}

let bundled: Promise<string> | undefined;

/** Node runs no TypeScript in a thread by itself, and this folder has no build of its own. Once a process. */
function script(): Promise<string> {
  bundled ??= bundle();
  return bundled;
}

async function bundle(): Promise<string> {
  // Only here: the bundler does not load in a page's environment, where backends in memory are tested too.
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("./thread.ts", import.meta.url))],
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    target: "node20",
  });
  return outputFiles[0]!.text;
}
