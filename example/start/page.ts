/** Serves the page from this process. */
import { join } from "node:path";
import { ROOT } from "./repository.js";

/** Returns the page's URL. Takes the next free port when this one is taken. It is served as long as the process lives. */
export async function servePage(port: number, backendUrl: string): Promise<string> {
  // A variable of the process wins over `.env.local`, where another deployment may be named.
  process.env.VITE_CONVEX_URL = backendUrl;
  // Only here: `--once` needs no page, and loading Vite takes a second.
  const { createServer } = await import("vite");
  const server = await createServer({
    configFile: join(ROOT, "example", "vite.config.ts"),
    server: { host: "127.0.0.1", port },
    logLevel: "error",
    clearScreen: false,
  });
  await server.listen();
  return server.resolvedUrls?.local[0] ?? `http://127.0.0.1:${port}/`;
}
