/** The standalone page of `npx convex-conveyor dashboard`, in one piece with all that it imports: `dist/site`. */
import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { root } from "../../tests/support/paths.js";

export const SITE = path.join(root, "dist/site");
/** The sources of the page. */
const SOURCES = ["page", "dashboard", "react", "shared"].map((name) =>
  path.join(root, "src", name),
);

export function pageIsStale(): boolean {
  const built = path.join(SITE, "index.html");
  if (!existsSync(built)) return true;
  const builtAt = statSync(built).mtimeMs;
  return SOURCES.some((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).some(
      (name) => !/\.test\.tsx?$/.test(name) && statSync(path.join(folder, name)).mtimeMs > builtAt,
    ),
  );
}

export async function buildPage(): Promise<void> {
  // Only here: loading Vite takes a second.
  const [{ build }, { default: react }] = await Promise.all([
    import("vite"),
    import("@vitejs/plugin-react"),
  ]);
  // In any process, a test too: with React as it is for users.
  const { NODE_ENV: before } = process.env;
  process.env.NODE_ENV = "production";
  try {
    await build({
      root: path.join(root, "src/page"),
      configFile: false,
      // The page's address is not known before it is served.
      base: "./",
      plugins: [react()],
      logLevel: "warn",
      build: { outDir: SITE, emptyOutDir: true, chunkSizeWarningLimit: 2_000 },
    });
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
}
