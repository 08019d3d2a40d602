/**
 * Where clients put files, by an upload URL, and get them, by a file's. No credentials: the holder of the URL may use
 * it.
 */
import type { Database, Namespace } from "../engine/types.js";
import type { Environment } from "../environment.js";
import { PlatformError } from "../functions/errors.js";
import { cors, readBytes, type RawRoute, type Routes } from "../server/http.js";
import type { Files } from "./files.js";
import { MAX_CACHE_AGE_S, MAX_FILE_BYTES } from "./limits.js";
import { parseRange } from "./ranges.js";
import { insertFile, readByStorageId, UUID, writeBytes } from "./storageTable.js";

export function fileRoutes(env: Environment, database: Database, files: Files): Routes {
  const get: RawRoute = { raw: (request, rest) => serve(database, files, request, rest) };
  return {
    "POST /api/storage/upload": { raw: (request) => upload(env, database, files, request) },
    "GET /api/storage/*": get,
    "HEAD /api/storage/*": get,
  };
}

async function upload(
  env: Environment,
  database: Database,
  files: Files,
  request: Request,
): Promise<Response> {
  const token = new URL(request.url).searchParams.get("token");
  if (token === null) {
    throw badHeader("The URL has no token. storage.generateUploadUrl() gives one that does.");
  }
  const namespace = files.redeem(token, env.now());
  const contentType = contentTypeOf(request.headers);
  const sha256 = digestOf(request.headers);
  const bytes = await readBytes(request, MAX_FILE_BYTES);
  const file = await writeBytes(env, files, bytes, { contentType, sha256 });
  const tx = database.begin();
  const storageId = await insertFile(tx, namespace, file);
  await database.commit(tx, "file_storage_store_file");
  return Response.json({ storageId }, { headers: cors(request) });
}

function contentTypeOf(headers: Headers): string | null {
  const contentType = headers.get("content-type");
  if (contentType === null || /^[\w!#$&^.+-]+\/[\w!#$&^.+*-]+\s*(;.*)?$/.test(contentType)) {
    return contentType;
  }
  throw badHeader(`Bad header for content-type: "${contentType}" is no media type.`);
}

/** `sha-256=` and the digest in base64 (common/src/sha256.rs). */
function digestOf(headers: Headers): string | undefined {
  const digest = headers.get("digest");
  if (digest === null) return undefined;
  const sha256 = /^sha-256=([A-Za-z0-9+/]{43}=)$/.exec(digest)?.[1];
  if (sha256 !== undefined) return sha256;
  throw badHeader(`Bad header for digest: expected "sha-256=<base64>", got "${digest}".`);
}

async function serve(
  database: Database,
  files: Files,
  request: Request,
  storageId: string,
): Promise<Response> {
  if (!UUID.test(storageId)) {
    throw new PlatformError(
      400,
      "InvalidStoragePath",
      `Invalid storage path: "${storageId}". Please use \`storage.getUrl(storageId: Id<"_storage">)\` to generate a ` +
        `valid URL to retrieve files. See https://docs.convex.dev/file-storage/serve-files for more details`,
    );
  }
  const namespace: Namespace = new URL(request.url).searchParams.get("component") ?? "";
  const row = database.tables(namespace).includes("_storage")
    ? await readByStorageId(database.begin(), namespace, storageId)
    : null;
  if (row === null) throw notFound(storageId);
  const range = parseRange(request.headers.get("range"), row.size);
  const headers: Record<string, string> = {
    ...cors(request),
    "Accept-Ranges": "bytes",
    "Cache-Control": `private, max-age=${MAX_CACHE_AGE_S}`,
    ...(row.contentType === null ? {} : { "Content-Type": row.contentType }),
  };
  if (range === "unsatisfiable") {
    return new Response(null, {
      status: 416,
      headers: { ...headers, "Content-Range": `bytes */${row.size}` },
    });
  }
  const bytes = await files.bytes.read(storageId, range ?? undefined);
  if (bytes === null) throw notFound(storageId);
  headers["Content-Length"] = String(bytes.length);
  if (range === null) headers["Digest"] = `sha-256=${row.sha256}`;
  else headers["Content-Range"] = `bytes ${range.start}-${range.end - 1}/${row.size}`;
  const body = request.method === "HEAD" ? null : new Uint8Array(bytes);
  return new Response(body, { status: range === null ? 200 : 206, headers });
}

function badHeader(message: string): PlatformError {
  return new PlatformError(400, "BadHeader", message);
}

function notFound(storageId: string): PlatformError {
  return new PlatformError(404, "FileNotFound", `File ${storageId} not found`);
}
