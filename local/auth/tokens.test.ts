import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { KEYS_KEPT_MS, MAX_PROVIDER_RESPONSE_BYTES } from "./limits.js";
import type { AuthProvider } from "./providers.js";
import { createKey, TestProviders, type TestKey } from "./testing.js";
import { TokenVerifier } from "./tokens.js";

const ISSUER = "https://id.test";
const KEYS = "https://id.test/jwks.json";
const OIDC: AuthProvider[] = [{ domain: ISSUER, applicationID: "app" }];
const CUSTOM: AuthProvider[] = [
  { type: "customJwt", issuer: ISSUER, jwks: KEYS, algorithm: "ES256", applicationID: null },
];

let rsa: TestKey, ec: TestKey, other: TestKey, eddsa: TestKey;
let providers: TestProviders;
let verifier: TokenVerifier;
beforeAll(async () => {
  [rsa, ec, other, eddsa] = await Promise.all([
    createKey("RS256", "rsa"),
    createKey("ES256", "ec"),
    createKey("RS256", "other"),
    createKey("EdDSA", "ed"),
  ]);
});
beforeEach(() => {
  providers = new TestProviders();
  verifier = new TokenVerifier(providers.env);
});

const seconds = () => providers.now / 1000;
const claims = (more: object = {}) => ({
  iss: ISSUER,
  sub: "ada",
  aud: "app",
  iat: seconds(),
  exp: seconds() + 60,
  ...more,
});

describe("an ID token", () => {
  beforeEach(() => providers.serveIssuer(ISSUER, rsa, eddsa));

  test("is taken with its claims in the platform's names, standard ones by type and the rest as they are", async () => {
    const token = await rsa.sign(
      claims({
        name: "Ada",
        given_name: "A.",
        email: "ada@id.test",
        email_verified: true,
        phone_number_verified: "yes",
        picture: "https://id.test/ada.png",
        address: { formatted: "1 Street", country: "UK" },
        updated_at: 1_700_000_000,
        org: { id: 7, roles: ["admin"] },
        fva: [1, 2],
        jti: "x",
        nonce: "n",
      }),
    );
    const identity = await verifier.verify(token, OIDC);
    expect(identity).toEqual({
      kind: "user",
      token,
      expiresAt: providers.now + 60_000,
      user: {
        tokenIdentifier: `${ISSUER}|ada`,
        issuer: ISSUER,
        subject: "ada",
        name: "Ada",
        givenName: "A.",
        email: "ada@id.test",
        emailVerified: true,
        pictureUrl: "https://id.test/ada.png",
        address: "1 Street",
        updatedAt: "2023-11-14T22:13:20+00:00",
        org: { id: 7, roles: ["admin"] },
      },
    });
  });

  test("may be signed with RS256 or EdDSA, and with nothing else", async () => {
    await expect(verifier.verify(await eddsa.sign(claims()), OIDC)).resolves.toBeDefined();
    providers.serveKeys(`${ISSUER}/keys`, ec);
    const again = new TokenVerifier(providers.env);
    await expect(again.verify(await ec.sign(claims()), OIDC)).rejects.toMatchObject({
      status: 401,
    });
  });

  test("without a signature is refused, under any claims", async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const unsigned = `${part({ alg: "none", kid: "rsa" })}.${part(claims())}.`;
    await expect(verifier.verify(unsigned, OIDC)).rejects.toMatchObject({ status: 401 });
  });

  test("signed by another key under the provider's key id is refused", async () => {
    const token = await other.sign(claims(), { kid: "rsa" });
    await expect(verifier.verify(token, OIDC)).rejects.toMatchObject({ code: "Unauthenticated" });
  });

  test("is refused from the second on in which it ends, and before it begins", async () => {
    const token = await rsa.sign(claims());
    providers.now += 59_000;
    await verifier.verify(token, OIDC);
    providers.now += 1_000;
    await expect(verifier.verify(token, OIDC)).rejects.toThrow("hasn't expired");
    const early = await rsa.sign(claims({ nbf: seconds() + 30 }));
    await expect(verifier.verify(early, OIDC)).rejects.toMatchObject({ status: 401 });
  });

  test.each([
    ["another application's", { aud: "their-app" }, "NoAuthProvider"],
    ["for other applications too", { aud: ["app", "their-app"] }, "Unauthenticated"],
    ["from another issuer", { iss: "https://evil.test" }, "NoAuthProvider"],
    ["without an issuer", { iss: undefined }, "InvalidAuthHeader"],
    ["without a subject", { sub: undefined }, "Unauthenticated"],
    ["that never ends", { exp: undefined }, "Unauthenticated"],
  ])("%s is refused", async (_what, more, code) => {
    const token = await rsa.sign(claims(more));
    await expect(verifier.verify(token, OIDC)).rejects.toMatchObject({ status: 401, code });
  });

  test("of an app without providers is refused with the place to configure them", async () => {
    await expect(verifier.verify(await rsa.sign(claims()), [])).rejects.toThrow(
      "no providers configured). Check convex/auth.config.ts.",
    );
  });

  test.each(["", "a", "a.b.c", "a.b", "..", "eyJhbGciOiJSUzI1NiJ9.bm90IGpzb24.x"])(
    "that is none (%j) is refused as such",
    async (token) => {
      await expect(verifier.verify(token, OIDC)).rejects.toMatchObject({
        status: 401,
        code: "InvalidAuthHeader",
      });
    },
  );

  test("of an issuer with a discovery that names another is refused: any server could serve that document", async () => {
    providers.serve(`${ISSUER}/.well-known/openid-configuration`, () =>
      Response.json({ issuer: "https://else.test", jwks_uri: `${ISSUER}/keys` }),
    );
    await expect(verifier.verify(await rsa.sign(claims()), OIDC)).rejects.toMatchObject({
      code: "AuthProviderDiscoveryFailed",
    });
  });

  test("of an issuer that cannot be reached says so", async () => {
    const token = await rsa.sign(claims({ iss: "https://gone.test" }));
    const gone = [{ domain: "https://gone.test", applicationID: "app" }];
    await expect(verifier.verify(token, gone)).rejects.toThrow(/gone\.test failed: .*no such host/);
  });
});

describe("a provider's keys", () => {
  test("are asked for once, until they are old", async () => {
    providers.serveIssuer(ISSUER, rsa);
    for (const laterMs of [0, 0, KEYS_KEPT_MS - 1]) {
      providers.now += laterMs;
      await verifier.verify(await rsa.sign(claims()), OIDC);
    }
    expect(providers.asked).toHaveLength(2);
    providers.now += 1;
    await verifier.verify(await rsa.sign(claims()), OIDC);
    expect(providers.asked).toHaveLength(4);
  });

  test("are asked for again when a token names one that is not among them", async () => {
    providers.serveIssuer(ISSUER, rsa);
    await verifier.verify(await rsa.sign(claims()), OIDC);
    const token = await other.sign(claims());
    await expect(verifier.verify(token, OIDC)).rejects.toMatchObject({ status: 401 });
    providers.serveKeys(`${ISSUER}/keys`, rsa, other);
    await verifier.verify(token, OIDC);
  });
});

describe("a custom token", () => {
  test("is taken with all its claims under their own names, nested ones joined by dots", async () => {
    providers.serveKeys(KEYS, ec);
    const token = await ec.sign(
      claims({
        name: "Ada",
        given_name: "A.",
        org: { id: 7, tags: ["x"], in: { deep: true } },
        fva: 1,
      }),
    );
    const { user } = await verifier.verify(token, CUSTOM);
    expect(user).toEqual({
      tokenIdentifier: `${ISSUER}|ada`,
      issuer: ISSUER,
      subject: "ada",
      name: "Ada",
      given_name: "A.",
      "org.id": 7,
      "org.tags": ["x"],
      "org.in.deep": true,
    });
  });

  test("needs its audience only where the provider names one", async () => {
    providers.serveKeys(KEYS, ec);
    const token = await ec.sign(claims({ aud: undefined }));
    await verifier.verify(token, CUSTOM);
    const named = [{ ...CUSTOM[0]!, applicationID: "app" }] as AuthProvider[];
    await expect(verifier.verify(token, named)).rejects.toMatchObject({ code: "NoAuthProvider" });
    await verifier.verify(await ec.sign(claims({ aud: ["x", "app"] })), named);
  });

  test("may name its issuer without a scheme, and its keys may come in a data: URL", async () => {
    const keys = JSON.stringify({ keys: [ec.publicJwk] });
    const base64 = Buffer.from(keys).toString("base64");
    for (const jwks of [
      `data:application/json,${encodeURIComponent(keys)}`,
      `data:text/plain;charset=utf-8;base64,${base64}`,
    ]) {
      const inline = [{ ...CUSTOM[0]!, jwks }] as AuthProvider[];
      await verifier.verify(await ec.sign(claims({ iss: "id.test/" })), inline);
    }
    expect(providers.asked).toEqual([]);
  });

  test("is forgiven a clock that is 5 s off, and no more", async () => {
    providers.serveKeys(KEYS, ec);
    const token = await ec.sign(claims());
    providers.now += 64_000;
    await verifier.verify(token, CUSTOM);
    providers.now += 2_000;
    await expect(verifier.verify(token, CUSTOM)).rejects.toThrow("Could not validate token");
  });

  test("that was issued in the future is refused, with the same 5 s", async () => {
    providers.serveKeys(KEYS, ec);
    await verifier.verify(await ec.sign(claims({ iat: seconds() + 4 })), CUSTOM);
    await expect(
      verifier.verify(await ec.sign(claims({ iat: seconds() + 6 })), CUSTOM),
    ).rejects.toThrow("Could not validate token");
  });

  test("says which key it names when no such key is there, and when it names none", async () => {
    providers.serveKeys(KEYS, ec);
    const stranger = await other.sign(claims());
    await expect(verifier.verify(stranger, CUSTOM)).rejects.toThrow("header is 'other'");
    // Though the only key that there is would do.
    await expect(verifier.verify(await ec.sign(claims(), {}), CUSTOM)).rejects.toThrow(
      "may be missing a 'kid'",
    );
  });

  test.each<[string, () => Response, string]>([
    ["an error", () => new Response("no", { status: 500 }), "HTTP 500"],
    [
      "a page",
      () => new Response("<html>", { headers: { "Content-Type": "text/html" } }),
      "Invalid Content-Type 'text/html'",
    ],
    [
      "no JSON",
      () => new Response("{", { headers: { "Content-Type": "application/json" } }),
      "Invalid JWKS response body",
    ],
    ["no keys", () => Response.json({ keys: "many" }), "Invalid JWKS response body"],
    ["too much", () => Response.json("x".repeat(MAX_PROVIDER_RESPONSE_BYTES)), "more than"],
  ])("of a provider that answers with %s is refused with that", async (_what, page, why) => {
    providers.serve(KEYS, page);
    await expect(verifier.verify(await ec.sign(claims()), CUSTOM)).rejects.toThrow(why);
  });
});
