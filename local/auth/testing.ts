/** For tests: identity providers that exist only in this process, with keys and tokens of their own. */
import { exportJWK, generateKeyPair, SignJWT, type JWK, type JWTPayload } from "jose";
import { wallEnvironment, type Environment } from "../environment.js";

export interface TestKey {
  alg: string;
  kid: string;
  publicJwk: JWK;
  sign(claims: JWTPayload, header?: { kid?: string; alg?: string }): Promise<string>;
}

export async function createKey(alg: string, kid: string): Promise<TestKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg);
  return {
    alg,
    kid,
    publicJwk: { ...(await exportJWK(publicKey)), alg, kid, use: "sig" },
    sign: (claims, header = { kid }) =>
      new SignJWT(claims).setProtectedHeader({ alg, ...header }).sign(privateKey),
  };
}

/** A network with nothing but providers on it, with a clock that a test sets. */
export class TestProviders {
  now = 1_800_000_000_000;
  /** Every address that was asked for. */
  readonly asked: string[] = [];
  readonly #pages = new Map<string, () => Response>();

  get env(): Environment {
    return {
      ...wallEnvironment,
      now: () => this.now,
      fetch: async (input) => {
        const url = input instanceof Request ? input.url : input.toString();
        this.asked.push(url);
        const page = this.#pages.get(url);
        if (page === undefined)
          throw new TypeError("fetch failed", { cause: new Error("no such host") });
        return page();
      },
    };
  }

  serve(url: string, page: () => Response): void {
    this.#pages.set(url, page);
  }

  serveKeys(url: string, ...keys: TestKey[]): void {
    this.serve(url, () => Response.json({ keys: keys.map((key) => key.publicJwk) }));
  }

  /** OpenID Connect's discovery, and the keys that it leads to. */
  serveIssuer(issuer: string, ...keys: TestKey[]): void {
    const jwks = `${issuer}/keys`;
    this.serve(`${issuer}/.well-known/openid-configuration`, () =>
      Response.json({ issuer, jwks_uri: jwks }),
    );
    this.serveKeys(jwks, ...keys);
  }
}
