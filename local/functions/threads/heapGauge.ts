/**
 * How much of V8's heap a thread uses, asked from outside while its code runs: V8 answers its inspector between two
 * steps of any loop. One session of the inspector serves all threads of the process. Without an inspector no answer
 * comes, and only V8's own bound is left.
 */
import { Session } from "node:inspector";

interface Message {
  id?: number;
  result?: { usedSize?: number };
}

let session: Session | null = null;
/** By thread, the inspector's name for it. */
const attached = new Map<number, string>();
const waiting = new Map<number, { sessionId: string; answer(message: Message | null): void }>();
let last = 0;

/** To be called before the first thread is made. */
export function watchHeaps(): void {
  if (session !== null) return;
  session = new Session();
  session.connect();
  const on = session.on.bind(session) as (name: string, listener: (event: any) => void) => void;
  on("NodeWorker.attachedToWorker", ({ params: { sessionId, workerInfo } }) => {
    const thread = /(\d+)/.exec((workerInfo as { title: string }).title)?.[1];
    if (thread !== undefined) attached.set(Number(thread), sessionId as string);
  });
  on("NodeWorker.detachedFromWorker", ({ params: { sessionId } }) => {
    for (const [thread, id] of attached) if (id === sessionId) attached.delete(thread);
    for (const [id, asked] of waiting) if (asked.sessionId === sessionId) settle(id, null);
  });
  on("NodeWorker.receivedMessageFromWorker", ({ params: { message } }) => {
    const told = JSON.parse(message as string) as Message;
    if (told.id !== undefined) settle(told.id, told);
  });
  post("NodeWorker.enable", { waitForDebuggerOnStart: false });
}

/** `null` where it is not known. */
export async function usedHeap(thread: number): Promise<number | null> {
  return (await ask(thread, "Runtime.getHeapUsage"))?.result?.usedSize ?? null;
}

/** Resolves when the thread has come to rest and collected its garbage. */
export async function collectGarbage(thread: number): Promise<void> {
  await ask(thread, "HeapProfiler.collectGarbage");
}

function settle(id: number, message: Message | null): void {
  waiting.get(id)?.answer(message);
  waiting.delete(id);
}

function ask(thread: number, method: string): Promise<Message | null> {
  const sessionId = attached.get(thread);
  if (sessionId === undefined) return Promise.resolve(null);
  const id = ++last;
  return new Promise((answer) => {
    waiting.set(id, { sessionId, answer });
    post("NodeWorker.sendMessageToWorker", { sessionId, message: JSON.stringify({ id, method }) });
  });
}

function post(method: string, params: object): void {
  (session as unknown as { post(method: string, params: object): void }).post(method, params);
}
