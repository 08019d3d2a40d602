/** A call that runs in a thread, and its host's answers to the thread's requests. */
import type { JSONValue } from "convex/values";
import type { CallHost } from "../invoke.js";
import type { Target } from "../lookup.js";
import type { Answer, FromThread } from "./protocol.js";

export interface OpenCall {
  target: Target;
  host: CallHost;
  resolve(result: string): void;
  reject(error: unknown): void;
  /** The thread's numbers of query streams, and the host's; or why one could not be opened. */
  streams: Map<number, number | Error>;
}

type Asking = Extract<FromThread, { kind: "syscall" | "stream" | "log" }>;

export function answerOf(call: OpenCall, message: Asking, tell: (answer: Answer) => void): void {
  switch (message.kind) {
    case "log":
      return call.host.log(message.level, message.text);
    case "stream":
      return streamOf(call, message);
    case "syscall":
      return syscallOf(call, message, tell);
  }
}

/**
 * An error of a query that cannot be opened is sent when its first row is asked for, which is when `convex/server`
 * opens it.
 */
function streamOf(
  { host, streams }: OpenCall,
  { stream, query }: Extract<Asking, { kind: "stream" }>,
): void {
  if (query === null) {
    const open = streams.get(stream);
    streams.delete(stream);
    if (typeof open === "number") host.syscall("1.0/queryCleanup", `{"queryId":${open}}`);
    return;
  }
  try {
    const { queryId } = JSON.parse(host.syscall("1.0/queryStream", query)) as { queryId: number };
    streams.set(stream, queryId);
  } catch (error) {
    streams.set(stream, error as Error);
  }
}

function syscallOf(
  call: OpenCall,
  { call: id, number, operation, args }: Extract<Asking, { kind: "syscall" }>,
  tell: (answer: Answer) => void,
): void {
  const answer = { kind: "answer", call: id, number } as const;
  asyncSyscall(call, operation, args).then(
    (value) => tell({ ...answer, ok: true, value }),
    (error: Error & { data?: JSONValue }) => {
      const { message, data } = error;
      tell({ ...answer, ok: false, message, ...(data === undefined ? {} : { data }) });
    },
  );
}

function asyncSyscall(
  { host, streams }: OpenCall,
  operation: string,
  args: string,
): Promise<string> {
  if (operation !== "1.0/queryStreamNext") return host.asyncSyscall(operation, args);
  const { queryId } = JSON.parse(args) as { queryId: number };
  const open = streams.get(queryId);
  if (open instanceof Error) return Promise.reject(open);
  return host.asyncSyscall(operation, `{"queryId":${open ?? 0}}`);
}
