/** Users of the conformance app: their tokens, as its provider would sign them. */
import { ConvexHttpClient } from "convex/browser";
import { importJWK, SignJWT } from "jose";
import type { Server } from "./target.js";

/** The other half of the key in `app/convex/auth.config.ts`. It opens nothing but the conformance app. */
const PRIVATE_KEY = {
  kty: "EC",
  crv: "P-256",
  x: "WzugPD3Hasis7T4erJB5tPD-NU-Qd6Ag-YeP9aSGFh0",
  y: "v0pEeGCUYaWKPwVN77j28CWOGMiLVZxFo8ezt64YxGs",
  d: "ZRlPc3Th9gPdMMLp1AbAd--B4zAT7to6Pl8WFGYV-uY",
};

export async function tokenOf(
  subject: string,
  { audience = "conformance", expires = "10 minutes" } = {},
): Promise<string> {
  return new SignJWT({ name: `User ${subject}` })
    .setProtectedHeader({ alg: "ES256", kid: "conformance", typ: "JWT" })
    .setIssuer("https://conformance.example")
    .setSubject(subject)
    .setAudience(audience)
    .setIssuedAt(Math.floor(Date.now() / 1000) - 5)
    .setExpirationTime(expires)
    .sign(await importJWK(PRIVATE_KEY, "ES256"));
}

/** The official client, signed in. */
export async function signedIn(server: Server, subject: string): Promise<ConvexHttpClient> {
  const client = new ConvexHttpClient(server.url, { logger: false });
  client.setAuth(await tokenOf(subject));
  return client;
}
