import { expect, test } from "vitest";
import { evaluateAuthConfig } from "../push/authConfig.js";
import { issuerOf, parseProviders, sameIssuer } from "./providers.js";

const CUSTOM = { type: "customJwt", issuer: "https://a.test", jwks: "data:,", algorithm: "ES256" };
const OIDC = { domain: "https://a.test", applicationID: "app" };

test.each([
  ["nothing at all", undefined, "missing default export"],
  ["no list", { provider: [] }, "missing field `providers`"],
  ["a provider that is none", { providers: [null] }, "missing field `applicationID`"],
  ["another spelling", { providers: [{ ...OIDC, applicationId: "a" }] }, "capital I, capital D"],
  ["another type", { providers: [{ type: "saml" }] }, "unexpected 'type' value \"saml\""],
  [
    "an algorithm of shared secrets",
    { providers: [{ ...CUSTOM, algorithm: "HS256" }] },
    "expected RS256 or ES256",
  ],
  ["no keys", { providers: [{ ...CUSTOM, jwks: undefined }] }, "missing field `jwks`"],
  [
    "an issuer and a domain",
    { providers: [{ ...CUSTOM, domain: "https://b.test" }] },
    "cannot have a 'domain'",
  ],
  [
    "a number for an id",
    { providers: [{ ...OIDC, applicationID: 7 }] },
    "`applicationID` must be a string, got 7",
  ],
  [
    "a domain of another scheme",
    { providers: [{ ...OIDC, domain: "ftp://a.test" }] },
    "scheme should be http or https",
  ],
  [
    "a domain that is none",
    { providers: [{ ...OIDC, domain: "mine" }] },
    "must have a scheme or end with a top-level domain",
  ],
])("auth.config.ts with %s is refused in words", (_, config, words) => {
  expect(() => parseProviders(config)).toThrow(
    expect.objectContaining({ status: 400, message: expect.stringContaining(words) }),
  );
});

test("an issuer is the same with or without its scheme and the slash at its end, and no other", () => {
  const issuers = parseProviders({ providers: [{ ...OIDC, domain: "a.test" }, CUSTOM] }).map(
    issuerOf,
  );
  expect(issuers).toEqual(["https://a.test", "https://a.test"]);
  for (const claimed of ["https://a.test", "https://a.test/", "a.test"]) {
    expect(sameIssuer("https://a.test", claimed)).toBe(true);
  }
  for (const claimed of ["http://a.test", "https://a.test.evil", "https://b.test"]) {
    expect(sameIssuer("https://a.test", claimed)).toBe(false);
  }
});

const evaluate = (source: string, variables: [string, string][] = []) => {
  const module = { path: "auth.config.js", source, environment: "isolate" as const };
  return evaluateAuthConfig(new Map([[module.path, module]]), new Map(variables));
};

test("a variable that auth.config.ts uses must be set, and is named when it is not", async () => {
  const source = `export default { providers: [{ domain: process.env.DOMAIN, applicationID: "app" }] };`;
  expect(await evaluate(source, [["DOMAIN", "https://a.test"]])).toEqual([OIDC]);
  await expect(evaluate(source)).rejects.toMatchObject({
    code: "AuthConfigMissingEnvironmentVariable",
    message: "Environment variable DOMAIN is used in auth config file but its value was not set",
  });
});

test("an auth.config.ts that throws refuses the push with its error", async () => {
  await expect(evaluate(`throw new Error("not today")`)).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("Failed to analyze auth.config.js: Uncaught Error: not today"),
  });
});
