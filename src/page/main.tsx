/**
 * The standalone page: the dashboard of any deployment, without the app's code. The program that serves it sends its
 * settings (`src/cli`).
 */
import { ConvexProvider, ConvexReactClient } from "convex/react";
import { anyApi } from "convex/server";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RELAY_PATH, type PageConfig } from "../cli/config.js";
import { Dashboard, type DashboardApi } from "../dashboard/index.js";
import "../dashboard/styles/index.css";
import "./page.css";

/** Clients of Convex have it and do not document it. */
interface TakesAdminKey {
  setAdminAuth(key: string): void;
}

/** The program that served this page relays its calls, and replaces this token by the credential. */
const PLACEHOLDER = "put in by the program that serves this page";

function clientOf({ signsIn }: PageConfig): ConvexReactClient {
  const client = new ConvexReactClient(new URL(RELAY_PATH, location.href).href);
  if (signsIn) (client as unknown as TakesAdminKey).setAdminAuth(PLACEHOLDER);
  return client;
}

/** `admin/queues` is `anyApi.admin.queues`. */
function functionsOf(module: string): DashboardApi {
  const at = (parent: any, name: string): any => parent[name];
  return module.split("/").reduce(at, anyApi) as DashboardApi;
}

async function start(): Promise<void> {
  // Relative: the address has a part that is different each time.
  const response = await fetch("config.json");
  if (!response.ok)
    throw new Error("The program that served this page has stopped. Start it again.");
  const config = (await response.json()) as PageConfig;
  document.title = `${config.name} · Conveyor`;
  createRoot(document.getElementById("root")!).render(
    <StrictMode>
      <ConvexProvider client={clientOf(config)}>
        <Dashboard api={functionsOf(config.module)} title={config.name} />
      </ConvexProvider>
    </StrictMode>,
  );
}

start().catch((error: unknown) => {
  document.getElementById("root")!.textContent = String(error);
});
