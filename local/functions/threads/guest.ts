/**
 * A thread's own program: it runs the functions that the backend names, each in a sandbox, and knows nothing but how to
 * ask. Bundled into one text by `bundle.ts`, since a thread has no loaders.
 */
import { parentPort, workerData } from "node:worker_threads";
import { wallEnvironment } from "../../environment.js";
import { callIn } from "../calling.js";
import { codeOf, rememberCode } from "../codeCache.js";
import { followContexts, sortRejections } from "../rejections.js";
import { createSandboxPool } from "../sandboxPool.js";
import type { ComponentInstance, ModuleSource } from "../types.js";
import { describeThrown } from "../uncaught.js";
import { BackendLink } from "./backendLink.js";
import { GuestHost } from "./guestHost.js";
import type { CallMessage, ThreadSetup, ToThread } from "./protocol.js";
import { taskOfThread } from "./task.js";

const port = parentPort!;
const { answers, answered } = workerData as ThreadSetup;
const backend = new BackendLink(port, answers as never, new Int32Array(answered));
const sandboxes = createSandboxPool(wallEnvironment);
const hosts = new Map<number, GuestHost>();

type Instance = Pick<ComponentInstance, "env"> & { definition: { modules: Modules } };
type Modules = Map<string, ModuleSource>;
const instances = new Map<number, Instance>();
/** Modules without V8's code yet. */
const uncompiled = new Map<number, Set<ModuleSource>>();

followContexts();
sortRejections();
port.on("message", (message: ToThread) => {
  switch (message.kind) {
    case "instance":
      return addInstance(message);
    case "call":
      return void run(message);
    case "answer":
      return backend.answer(message);
    case "abort":
      return hosts.get(message.call)?.rejected(new Error("The call was aborted."));
  }
});
backend.tell({ kind: "ready", task: taskOfThread() });

function addInstance(message: Extract<ToThread, { kind: "instance" }>): void {
  const modules: Modules = new Map();
  const without = new Set<ModuleSource>();
  for (const { source, code } of message.modules) {
    modules.set(source.path, source);
    if (code === undefined) without.add(source);
    else rememberCode(source, Buffer.from(code.buffer, code.byteOffset, code.byteLength));
  }
  instances.set(message.instance, { env: new Map(message.env), definition: { modules } });
  uncompiled.set(message.instance, without);
}

async function run(message: CallMessage): Promise<void> {
  const { call, called, requestId, args } = message;
  const instance = instances.get(message.instance)!;
  const { modules } = instance.definition;
  const host = new GuestHost(message, backend);
  hosts.set(call, host);
  const sandbox = sandboxes.take(instance as ComponentInstance);
  let clean = false;
  const ended = { kind: "ended", call } as const;
  try {
    await sandbox.import(called.module);
    backend.tell({ kind: "entered", call });
    const settled = (left: boolean) => void (clean = left);
    const value = await callIn(sandbox, called, host, { requestId, args }, settled);
    backend.tell({ ...ended, ok: true, value, observedTime: host.observedTime });
  } catch (error) {
    const thrown = describeThrown(error, (path) => modules.has(path));
    backend.tell({ ...ended, ok: false, thrown, observedTime: host.observedTime });
  } finally {
    hosts.delete(call);
    if (clean) sandboxes.give(instance as ComponentInstance, sandbox, called.path);
    tellCompiled(message.instance);
  }
}

function tellCompiled(instance: number): void {
  const without = uncompiled.get(instance)!;
  for (const source of without) {
    const code = codeOf(source);
    if (code === undefined) continue;
    without.delete(source);
    backend.tell({ kind: "compiled", instance, path: source.path, code });
  }
}
