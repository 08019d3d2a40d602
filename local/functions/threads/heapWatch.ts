/**
 * Whether a thread's calls take too much memory. V8 lets garbage lie as long as it sees room, and here it sees much
 * (`V8_HEAP_MIB`). So a thread over the limit is collected first, when it comes to rest; and one that does not rest is
 * given twice the limit.
 *
 * Memory outside of V8's heap (the bytes of buffers and typed arrays, WebAssembly's memory) is not counted.
 */
import { collectGarbage, usedHeap } from "./heapGauge.js";
import { heapLimit, OWN_HEAP_BYTES } from "./limits.js";
import type { Thread } from "./thread.js";

const asked = new WeakSet<Thread>();
const collecting = new WeakSet<Thread>();

export async function memoryOverrun(thread: Thread, threadId: number): Promise<boolean> {
  // It answers late when it is at work for long in one step.
  if (asked.has(thread)) return false;
  asked.add(thread);
  const limit = heapLimit(thread.kind);
  const used = await usedHeap(threadId);
  asked.delete(thread);
  if (used === null || used <= limit + OWN_HEAP_BYTES) return false;
  if (used > 2 * limit + OWN_HEAP_BYTES) return true;
  return !collecting.has(thread) && stillOverrun(thread, threadId);
}

async function stillOverrun(thread: Thread, threadId: number): Promise<boolean> {
  collecting.add(thread);
  await collectGarbage(threadId);
  const used = await usedHeap(threadId);
  collecting.delete(thread);
  return used !== null && used > heapLimit(thread.kind) + OWN_HEAP_BYTES;
}

export function forgetThread(thread: Thread): void {
  asked.delete(thread);
  collecting.delete(thread);
}
