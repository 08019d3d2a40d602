/** Starts the page: one client, one root. */
import { ConvexProvider, ConvexReactClient } from "convex/react";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App.js";
import { Notice } from "./components/Notice.js";
import "./styles/index.css";

const url: unknown = import.meta.env.VITE_CONVEX_URL;

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    {typeof url === "string" && url !== "" ? (
      <ConvexProvider client={new ConvexReactClient(url)}>
        <App />
      </ConvexProvider>
    ) : (
      <Notice title="Which deployment?">
        Set <code>VITE_CONVEX_URL</code> (<code>npm run dev</code> writes it to{" "}
        <code>.env.local</code>), or run <code>npm start</code>, which brings its own backend.
      </Notice>
    )}
  </StrictMode>,
);
