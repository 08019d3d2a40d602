/** An app that mounts the official components from npm, unmodified, pushed by the official CLI to a local backend. */
import path from "node:path";
import { ConvexHttpClient } from "convex/browser";
import { push } from "../../local/convexCli.js";
import { linkPackage } from "../support/link.js";
import { until } from "../../local/until.js";
import { startBackend, type Backend } from "../../local/backend.js";
import { api } from "./app/convex/_generated/api.js";

export const APP = path.join(import.meta.dirname, "app");

export interface PackagesApp {
  backend: Backend;
  client: ConvexHttpClient;
  /** The lines that functions wrote about a subject, once there are so many. */
  lines(about: string, count: number): Promise<string[]>;
  close(): Promise<void>;
}

export async function startPackagesApp(): Promise<PackagesApp> {
  linkPackage(APP);
  const backend = await startBackend({ quiet: true });
  try {
    await push(APP, backend);
  } catch (error) {
    await backend.close();
    throw error;
  }
  const client = new ConvexHttpClient(backend.url, { logger: false });
  return {
    backend,
    client,
    lines: (about, count) =>
      until(
        () => client.query(api.lines.about, { about }),
        (lines) => lines.length >= count,
      ),
    close: () => backend.close(),
  };
}
