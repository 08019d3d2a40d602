/** Authorizing callers of an HTTP action by a shared secret. */

/**
 * For `authorize` of {@link Conveyor.metrics}: whether the request carries `Authorization: Bearer …` with the secret that an
 * environment variable of the deployment has. Without that variable, or with an empty one, every request is refused.
 * How much of a wrong secret is right does not show in the time that it takes.
 *
 * @param variable The name of the environment variable. Set it with `npx convex env set METRICS_TOKEN …`.
 * @example
 * http.route({
 *   path: "/metrics",
 *   method: "GET",
 *   handler: conveyor.metrics({ authorize: bearerToken("METRICS_TOKEN") }),
 * });
 */
export function bearerToken(
  variable: string,
): (ctx: unknown, request: Request) => Promise<boolean> {
  return async (_ctx, request) => {
    const secret = process.env[variable];
    const given = /^Bearer +(.+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    if (!secret || given === undefined) return false;
    return await isSame(given.trim(), secret);
  };
}

/** Every byte of their digests, which are of one length, is compared. */
async function isSame(a: string, b: string): Promise<boolean> {
  const [one, other] = await Promise.all([digest(a), digest(b)]);
  return one.reduce((differs, byte, i) => differs | (byte ^ other[i]!), 0) === 0;
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}
