/**
 * One thread, from the backend's side: its calls, their requests, their limits. A call that overruns costs its thread;
 * that is how code that never yields is stopped.
 */
import { MessageChannel, Worker, type MessagePort } from "node:worker_threads";
import { SEED_BYTES } from "../random.js";
import { FunctionError } from "../errors.js";
import type { Invocation } from "../invoke.js";
import { calledOf } from "../lookup.js";
import type { ComponentInstance } from "../types.js";
import { errorOf } from "../uncaught.js";
import { timedOut } from "../userTime.js";
import { forgetThread, memoryOverrun } from "./heapWatch.js";
import { heapLimit, LOADING_TIME_MS, V8_HEAP_MIB, type ThreadKind } from "./limits.js";
import { Meter } from "./meter.js";
import { answerOf, type OpenCall } from "./openCall.js";
import type { Ended, FromThread, ThreadSetup, ToThread } from "./protocol.js";
import { keepCode, sentInstance } from "./sources.js";

export class Thread {
  /** Resolves when it takes calls, or will never. */
  readonly ready: Promise<void>;
  readonly kind: ThreadKind;
  ended = false;
  /** Actions have no bound but the time they take in all. */
  readonly #userTimeMs: number;
  readonly #worker: Worker;
  readonly #answers: MessagePort;
  readonly #answered = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #meter: Meter;
  readonly #calls = new Map<number, OpenCall>();
  readonly #instances = new Map<ComponentInstance, number>();
  #lastCall = 0;
  #isReady!: () => void;

  constructor(
    program: string,
    { kind, userTimeMs }: { kind: ThreadKind; userTimeMs: number },
    readonly onEnd: () => void,
  ) {
    this.kind = kind;
    this.#userTimeMs = kind === "transaction" ? userTimeMs : Infinity;
    const { port1, port2 } = new MessageChannel();
    this.#answers = port1;
    const workerData = { answers: port2, answered: this.#answered.buffer } as unknown;
    this.#worker = new Worker(program, {
      eval: true,
      execArgv: ["--experimental-vm-modules", "--no-warnings"],
      resourceLimits: { maxOldGenerationSizeMb: V8_HEAP_MIB },
      workerData: workerData as ThreadSetup,
      transferList: [port2],
    });
    this.#meter = new Meter(this.#worker);
    this.ready = new Promise((resolve) => (this.#isReady = resolve));
    this.#worker.on("message", (message: FromThread) => this.#hear(message));
    this.#worker.on("error", (error: Error & { code?: string }) =>
      this.end(failureOf(error, this)),
    );
    this.#worker.on("exit", (code) =>
      this.end(new FunctionError(`The function ended its process: process.exit(${code}).`)),
    );
    this.#worker.unref();
    port1.unref();
  }

  get calls(): number {
    return this.#calls.size;
  }

  /** Gives the JSON of the result, or throws the function's own error. */
  call({ target, host, args, requestId }: Invocation): { id: number; result: Promise<string> } {
    const id = ++this.#lastCall;
    const facts = host.facts();
    const result = new Promise<string>((resolve, reject) => {
      this.#calls.set(id, { target, host, resolve, reject, streams: new Map() });
    });
    if (this.#calls.size === 1) this.#worker.ref();
    this.#meter.begin(id, LOADING_TIME_MS);
    this.#tell({
      kind: "call",
      call: id,
      instance: this.#know(target.instance),
      called: calledOf(target),
      facts,
      seed: host.randomBytes(SEED_BYTES),
      requestId,
      args: JSON.stringify([args]),
    });
    return { id, result };
  }

  /** Asks a call to end. Whether it does is seen by `calls`. */
  abort(call: number): void {
    if (this.#calls.has(call)) this.#tell({ kind: "abort", call });
  }

  has(call: number): boolean {
    return this.#calls.has(call);
  }

  /** Ends it, and with it every call in it. */
  end(reason: Error): void {
    if (this.ended) return;
    this.ended = true;
    this.#answers.close();
    forgetThread(this);
    void this.#worker.terminate();
    for (const call of this.#calls.values()) call.reject(reason);
    this.#calls.clear();
    this.#isReady();
    this.onEnd();
  }

  /** To be called now and then while calls run. */
  watch(): void {
    if (this.ended || this.#calls.size === 0) return;
    const limitMs = this.#meter.overrun();
    if (limitMs !== null) return this.end(timedOut(limitMs));
    void memoryOverrun(this, this.#worker.threadId).then((over) => {
      if (over) this.end(outOfMemory(this.kind));
    });
  }

  #hear(message: FromThread): void {
    if (message.kind === "ready") {
      this.#meter.task = message.task;
      return this.#isReady();
    }
    if (message.kind === "compiled") return this.#keep(message);
    const call = this.#calls.get(message.call);
    if (call === undefined) return;
    switch (message.kind) {
      case "entered":
        return this.#meter.restart(message.call, this.#userTimeMs);
      case "ended":
        return this.#finish(call, message);
      case "ask":
        return this.#answerAtOnce(call, message.operation, message.args);
      default:
        answerOf(call, message, (answer) => this.#tell(answer));
    }
  }

  #finish(call: OpenCall, message: Ended): void {
    this.#calls.delete(message.call);
    this.#meter.end(message.call);
    if (this.#calls.size === 0) this.#worker.unref();
    if (message.observedTime) call.host.now();
    if (message.ok) call.resolve(message.value);
    else call.reject(errorOf(message.thrown, call.target.instance.definition.modules));
  }

  #answerAtOnce({ host }: OpenCall, operation: string, args: string): void {
    try {
      this.#answers.postMessage({ ok: true, value: host.syscall(operation, args) });
    } catch (error) {
      this.#answers.postMessage({ ok: false, message: (error as Error).message });
    }
    Atomics.store(this.#answered, 0, 1);
    Atomics.notify(this.#answered, 0);
  }

  /** Its modules are sent before the first call that needs them. */
  #know(instance: ComponentInstance): number {
    const known = this.#instances.get(instance);
    if (known !== undefined) return known;
    const id = this.#instances.size + 1;
    this.#instances.set(instance, id);
    this.#tell(sentInstance(id, instance));
    return id;
  }

  #keep({ instance, path, code }: Extract<FromThread, { kind: "compiled" }>): void {
    for (const [known, id] of this.#instances) if (id === instance) keepCode(known, path, code);
  }

  #tell(message: ToThread): void {
    if (!this.ended) this.#worker.postMessage(message);
  }
}

/** The platform's words for its isolates: termination.rs. For Node, that it says the same is an assumption. */
function outOfMemory(kind: ThreadKind): FunctionError {
  const megabytes = heapLimit(kind) >> 20;
  return new FunctionError(
    `JavaScript execution ran out of memory (maximum memory usage: ${megabytes} MB)`,
  );
}

function failureOf(error: Error & { code?: string }, { kind }: Thread): Error {
  if (error.code === "ERR_WORKER_OUT_OF_MEMORY") return outOfMemory(kind);
  return new FunctionError(`Uncaught ${error.name}: ${error.message}`);
}
