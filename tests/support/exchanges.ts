/**
 * The HTTP exchanges of a page, each in a block of `http`: a request with its JSON, a blank line, a status with its
 * JSON. A string of a reply that was not met before stands for the real value, and for the same one from then on.
 */
import { expect } from "vitest";

export interface Exchange {
  path: string;
  request: string;
  status: number;
  reply: unknown;
}

/** Further fields, or a text of any kind. */
const MORE = "…";
/** Their values are never the same twice: the page has a name in their place. */
const NAMED = /^(id of |any )/;

export function exchangesOf(page: string): Exchange[] {
  return [...page.matchAll(/```http\n([\s\S]*?)```/g)].map(([, block]) => {
    const [, path, request, status, reply] =
      /^POST (\S+)\n([\s\S]*?)\n\n(\d+)\n([\s\S]*)$/.exec(block!) ?? [];
    if (reply === undefined) throw new Error(`No request and reply:\n${block}`);
    return { path: path!, request: request!, status: Number(status), reply: JSON.parse(reply) };
  });
}

/** Makes the requests in turn, and compares the replies. `known`: real values by their names in the page. */
export async function runExchanges(
  url: string,
  exchanges: readonly Exchange[],
  known: Map<string, unknown>,
): Promise<void> {
  for (const { path, request, status, reply } of exchanges) {
    const body = JSON.stringify(replaced(JSON.parse(request), known));
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body });
    expect(response.status).toBe(status);
    const real: unknown = await response.json();
    const isMore = typeof real === "object" && real !== null && "logLines" in real;
    if (isMore) delete real.logLines;
    expect(named(real, reply, known), request).toEqual(reply);
  }
}

/** The JSON with real values in the place of their names. */
function replaced(json: unknown, known: Map<string, unknown>): unknown {
  if (typeof json === "string") return known.get(json) ?? json;
  if (Array.isArray(json)) return json.map((one) => replaced(one, known));
  if (typeof json !== "object" || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(([key, one]) => [key, replaced(one, known)]));
}

/** The real reply with the page's names in the place of its values, and without the fields that the page leaves out. */
function named(real: unknown, said: unknown, known: Map<string, unknown>): unknown {
  if (said === MORE && typeof real === "string") return said;
  if (typeof said === "string" && NAMED.test(said)) {
    if (!known.has(said) || said.startsWith("any ")) known.set(said, real);
    return known.get(said) === real ? said : real;
  }
  if (Array.isArray(said) && Array.isArray(real)) {
    return real.map((one, at) => named(one, said[at], known));
  }
  if (typeof said !== "object" || said === null || typeof real !== "object" || real === null) {
    return real;
  }
  const fields = said as Record<string, unknown>;
  const kept = Object.entries(real).filter(([key]) => key in fields || !(MORE in fields));
  return {
    ...Object.fromEntries(kept.map(([key, one]) => [key, named(one, fields[key], known)])),
    ...(MORE in fields ? { [MORE]: MORE } : {}),
  };
}
