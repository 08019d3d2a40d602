/** The common beginning of both pages: one client, one root. */
import { ConvexProvider, ConvexReactClient } from "convex/react";
import { StrictMode, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { Notice } from "./components/Notice.js";

/** Shows the page, or which deployment it lacks. */
export function start(page: ReactNode): void {
  const url: unknown = import.meta.env.VITE_CONVEX_URL;
  createRoot(document.getElementById("root")!).render(
    <StrictMode>
      {typeof url === "string" && url !== "" ? (
        <ConvexProvider client={new ConvexReactClient(url)}>{page}</ConvexProvider>
      ) : (
        <Notice title="Which deployment?">
          Set <code>VITE_CONVEX_URL</code> (<code>npm run dev</code> writes it to{" "}
          <code>.env.local</code>), or run <code>npm start</code>, which brings its own backend.
        </Notice>
      )}
    </StrictMode>,
  );
}
