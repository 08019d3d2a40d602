/**
 * File storage as functions and the server share it: where the bytes are, and the URLs by which clients put them and
 * get them. An upload URL carries a token, signed and good for an hour, that names the component it stores for.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Namespace } from "../engine/types.js";
import { PlatformError } from "../functions/errors.js";
import type { FileBytes } from "./bytes.js";
import { UPLOAD_URL_VALID_MS } from "./limits.js";

export interface Files {
  bytes: FileBytes;
  uploadUrl(namespace: Namespace, now: number): string;
  fileUrl(namespace: Namespace, storageId: string): string;
  /** The component that a token stores for. Throws a `PlatformError` when it is none, or too old. */
  redeem(token: string, now: number): Namespace;
}

export interface FilesOptions {
  bytes: FileBytes;
  /** Where the server is reached. */
  origin: string;
  /** Signs upload URLs. As long as it stays, URLs given before a restart are good after it. */
  secret: string;
}

interface Grant {
  namespace: Namespace;
  issuedAt: number;
}

export function createFiles({ bytes, origin, secret }: FilesOptions): Files {
  const sign = (payload: string): string =>
    createHmac("sha256", secret).update(`upload ${payload}`).digest("base64url");
  return {
    bytes,
    uploadUrl(namespace, now) {
      const grant: Grant = { namespace, issuedAt: Math.floor(now) };
      const payload = Buffer.from(JSON.stringify(grant)).toString("base64url");
      return `${origin}/api/storage/upload?token=${payload}.${sign(payload)}`;
    },
    fileUrl: (namespace, storageId) =>
      `${origin}/api/storage/${storageId}` +
      (namespace === "" ? "" : `?component=${encodeURIComponent(namespace)}`),
    redeem(token, now) {
      const [payload = "", signature = ""] = token.split(".");
      if (!isSame(signature, sign(payload))) {
        throw refusal("Couldn't decode the StoreFileAuthorization token");
      }
      const { namespace, issuedAt } = JSON.parse(
        Buffer.from(payload, "base64url").toString(),
      ) as Grant;
      if (now - issuedAt > UPLOAD_URL_VALID_MS) {
        throw refusal(
          `The upload URL was made at ${new Date(issuedAt).toISOString()}, and is good for an hour. ` +
            `Call storage.generateUploadUrl() again.`,
        );
      }
      return namespace;
    },
  };
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function refusal(message: string): PlatformError {
  return new PlatformError(401, "StorageTokenInvalid", message);
}
