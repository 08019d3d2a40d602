/**
 * The messages that bring a component to a thread, and V8's code of its modules, which the first thread to load them
 * sends back.
 */
import { codeOf, rememberCode } from "../codeCache.js";
import type { ComponentInstance } from "../types.js";
import type { SentModule, ToThread } from "./protocol.js";

export function sentInstance(
  id: number,
  { env, definition }: ComponentInstance,
): Extract<ToThread, { kind: "instance" }> {
  const modules = [...definition.modules.values()].map((module): SentModule => {
    const { path, source, environment } = module;
    const code = codeOf(module);
    return { source: { path, source, environment }, ...(code === undefined ? {} : { code }) };
  });
  return { kind: "instance", instance: id, env: [...env], modules };
}

export function keepCode({ definition }: ComponentInstance, path: string, code: Uint8Array): void {
  const module = definition.modules.get(path);
  if (module !== undefined) {
    rememberCode(module, Buffer.from(code.buffer, code.byteOffset, code.byteLength));
  }
}
