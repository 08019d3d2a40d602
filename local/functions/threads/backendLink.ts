/** A thread's way to the backend: messages that are answered later, and questions for which the thread stands still. */
import { receiveMessageOnPort, type MessagePort } from "node:worker_threads";
import type { Answer, FromThread, Outcome } from "./protocol.js";

export class BackendLink {
  readonly #waiting = new Map<
    number,
    { resolve(value: string): void; reject(error: Error): void }
  >();
  #last = 0;

  constructor(
    private readonly port: MessagePort,
    private readonly answers: MessagePort,
    private readonly answered: Int32Array<SharedArrayBuffer>,
  ) {}

  tell(message: FromThread): void {
    this.port.postMessage(message);
  }

  call(call: number, operation: string, args: string): Promise<string> {
    const number = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      this.tell({ kind: "syscall", call, number, operation, args });
    });
  }

  answer({ number, ...outcome }: Answer): void {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (outcome.ok) waiting?.resolve(outcome.value);
    else waiting?.reject(errorOf(outcome));
  }

  ask(call: number, operation: string, args: string): string {
    this.tell({ kind: "ask", call, operation, args });
    Atomics.wait(this.answered, 0, 0);
    Atomics.store(this.answered, 0, 0);
    const { message } = receiveMessageOnPort(this.answers) as { message: Outcome };
    if (message.ok) return message.value;
    throw errorOf(message);
  }
}

function errorOf({ message, data }: Extract<Outcome, { ok: false }>): Error {
  const error = new Error(message);
  return data === undefined ? error : Object.assign(error, { data });
}
