/** The page's build. `npx vite example` serves it by hand; `npm start` does the same with its own backend's URL. */
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));

export default defineConfig({
  root: here,
  // `convex dev` writes VITE_CONVEX_URL into the repository's .env.local. A variable of the process wins over it.
  envDir: fileURLToPath(new URL("..", import.meta.url)),
  plugins: [react()],
  build: {
    outDir: "dist",
    emptyOutDir: true,
    rolldownOptions: { input: ["index.html", "dashboard.html"].map((page) => `${here}${page}`) },
  },
});
