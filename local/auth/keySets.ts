/**
 * Providers' public keys: found by OpenID Connect's discovery or at a given address, kept for a while, and asked for
 * anew when a token names a key that is not among them. It knows nothing of tokens' claims.
 */
import type { JSONWebKeySet } from "jose";
import type { Environment } from "../environment.js";
import { PlatformError } from "../functions/errors.js";
import {
  KEYS_KEPT_MS,
  MAX_KEPT_KEY_SETS,
  MAX_PROVIDER_RESPONSE_BYTES,
  PROVIDER_TIMEOUT_MS,
} from "./limits.js";

export interface KeySet {
  keys: JSONWebKeySet;
  /** Whether asking again can give other keys. */
  kept: boolean;
}

const MEDIA_TYPES = new Set(["application/json", "application/jwk-set+json"]);

export class KeySets {
  readonly #kept = new Map<string, { at: number; keys: JSONWebKeySet }>();

  constructor(private readonly env: Environment) {}

  /** `address` may be a `data:` URL. */
  async at(address: string, fresh: boolean): Promise<KeySet> {
    return this.#keep(`jwks ${address}`, fresh, async () => {
      const response = await this.#fetchKeys(address);
      return checkKeys(response, address);
    });
  }

  /** By the discovery document below the issuer's own URL, which must be about that very issuer. */
  async ofIssuer(issuer: string, fresh: boolean): Promise<KeySet> {
    return this.#keep(`issuer ${issuer}`, fresh, async () => {
      const address = await this.#discover(issuer);
      return checkKeys(await this.#fetchKeys(address), address);
    });
  }

  async #keep(key: string, fresh: boolean, get: () => Promise<JSONWebKeySet>): Promise<KeySet> {
    const known = this.#kept.get(key);
    const now = this.env.now();
    if (known && !fresh && now - known.at < KEYS_KEPT_MS) return { keys: known.keys, kept: true };
    const keys = await get();
    this.#kept.delete(key);
    this.#kept.set(key, { at: now, keys });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT_KEY_SETS) this.#kept.delete(oldest!);
    return { keys, kept: false };
  }

  async #discover(issuer: string): Promise<string> {
    const failed = (why: string): PlatformError =>
      new PlatformError(
        400,
        "AuthProviderDiscoveryFailed",
        `Auth provider discovery of ${issuer} failed: ${why}`,
      );
    const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
    let text: string;
    try {
      const response = await this.#ask(address);
      text = response.text;
      if (response.status !== 200) throw new Error(`${response.status} ${text}`);
    } catch (error) {
      throw failed(reasonOf(error));
    }
    const metadata = parseObject(text);
    if (metadata === null) throw failed("its answer is not a JSON object.");
    if (metadata["issuer"] !== issuer) {
      throw failed(
        `it names the issuer ${JSON.stringify(metadata["issuer"])}, and the token ${JSON.stringify(issuer)}.`,
      );
    }
    const keys = metadata["jwks_uri"];
    if (typeof keys !== "string") throw failed("it names no `jwks_uri`.");
    return keys;
  }

  async #fetchKeys(address: string): Promise<string> {
    if (address.startsWith("data:")) return decodeDataUrl(address);
    let response: { status: number; text: string; type: string };
    try {
      response = await this.#ask(address);
    } catch (error) {
      throw unauthenticated(
        `Could not fetch JWKS from URL '${address}': ${reasonOf(error)}. Check that the URL is correct and accessible.`,
      );
    }
    if (response.status !== 200) {
      throw unauthenticated(
        `Could not fetch JWKS from URL '${address}': HTTP ${response.status}. Check that the URL is correct and accessible.`,
      );
    }
    const [media = ""] = response.type.toLowerCase().split(";");
    if (!MEDIA_TYPES.has(media.trim())) {
      throw unauthenticated(
        `Invalid Content-Type '${response.type || "unknown"}' when fetching JWKS from '${address}'. ` +
          `Expected 'application/json' or 'application/jwk-set+json'.`,
      );
    }
    return response.text;
  }

  async #ask(address: string): Promise<{ status: number; text: string; type: string }> {
    const giveUp = new AbortController();
    const timer = this.env.timer(PROVIDER_TIMEOUT_MS, () =>
      giveUp.abort(new Error(`no answer in ${PROVIDER_TIMEOUT_MS / 1000} s`)),
    );
    try {
      const response = await this.env.fetch(address, {
        headers: { Accept: "application/json" },
        signal: giveUp.signal,
      });
      const text = await readText(response);
      return { status: response.status, text, type: response.headers.get("content-type") ?? "" };
    } finally {
      timer.cancel();
    }
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_PROVIDER_RESPONSE_BYTES) {
      throw new Error(`its answer has more than ${MAX_PROVIDER_RESPONSE_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function decodeDataUrl(url: string): string {
  const match = /^data:([^,]*),(.*)$/s.exec(url);
  try {
    const [, head = "", body = ""] = match!;
    const text = decodeURIComponent(body);
    return /;\s*base64$/i.test(head) ? Buffer.from(text, "base64").toString("utf8") : text;
  } catch {
    throw unauthenticated(
      "Invalid JWKS data URL. Check that the data URL is properly formatted and contains valid base64-encoded JSON.",
    );
  }
}

function checkKeys(text: string, address: string): JSONWebKeySet {
  const keys = parseObject(text)?.["keys"];
  if (Array.isArray(keys) && keys.every((key) => typeof key === "object" && key !== null)) {
    return { keys: keys as JSONWebKeySet["keys"] };
  }
  throw unauthenticated(
    `Invalid JWKS response body from '${address}'. The response is not valid JSON or doesn't match the expected JWKS format.`,
  );
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? (value as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

/** Node's `fetch` says only "fetch failed", and why in its cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

export function unauthenticated(message: string): PlatformError {
  return new PlatformError(401, "InvalidAuthHeader", message);
}
