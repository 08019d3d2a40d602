/** The official clients, unmodified, on a world's time and network. */
import type { ConvexClient, ConvexHttpClient } from "convex/browser";
import { bundleText, REALM_NAME } from "./realm/bundle.js";
import { createRealm, type RealmOptions } from "./realm/realm.js";

const CLIENTS = `
  import { ConvexClient, ConvexHttpClient } from "convex/browser";
  Object.assign(${REALM_NAME}.exports, { ConvexClient, ConvexHttpClient });
`;

export interface Clients {
  http(url: string): ConvexHttpClient;
  socket(url: string, options?: object): ConvexClient;
}

/** Gives a maker of clients: each in a realm of its own. */
export async function loadClients(): Promise<(realm: RealmOptions) => Clients> {
  const code = await bundleText(CLIENTS);
  return (options) => {
    const classes = createRealm(options).load(code) as {
      ConvexClient: typeof ConvexClient;
      ConvexHttpClient: typeof ConvexHttpClient;
    };
    return {
      http: (url) => new classes.ConvexHttpClient(url, { logger: false }),
      socket: (url, given) => new classes.ConvexClient(url, { logger: false, ...given }),
    };
  };
}
