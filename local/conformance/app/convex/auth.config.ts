/** One provider with a public key: the suite signs its users' tokens itself (`../../users.ts`). */
import type { AuthConfig } from "convex/server";

const PUBLIC_KEY = {
  kty: "EC",
  crv: "P-256",
  x: "WzugPD3Hasis7T4erJB5tPD-NU-Qd6Ag-YeP9aSGFh0",
  y: "v0pEeGCUYaWKPwVN77j28CWOGMiLVZxFo8ezt64YxGs",
  kid: "conformance",
  alg: "ES256",
  use: "sig",
};
const JWKS = encodeURIComponent(JSON.stringify({ keys: [PUBLIC_KEY] }));

export default {
  providers: [
    {
      type: "customJwt",
      issuer: "https://conformance.example",
      applicationID: "conformance",
      jwks: `data:text/plain;charset=utf-8,${JWKS}`,
      algorithm: "ES256",
    },
  ],
} satisfies AuthConfig;
