/** Gives an app's folder the packages of this repository, and this package itself, without a registry. */
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { root } from "./paths.js";

/** The package by name only, for an app inside this repository: all further packages it finds by walking up. */
export function linkPackage(app: string, to = root): void {
  const modules = path.join(app, "node_modules");
  mkdirSync(modules, { recursive: true });
  const link = path.join(modules, "convex-conveyor");
  if (!existsSync(link)) symlinkSync(to, link);
}

/** The apps that import this package by name: types, lint and modules of tests resolve it there before any test runs. */
export function linkApps(): void {
  for (const app of [
    "tests/support/app",
    "bench/pull",
    "bench/push/app",
    "bench/push/many",
    "tests/packages/app",
    "tests/types/app",
    "tests/virtual/app-many",
    "tests/dashboard/app",
  ])
    linkPackage(path.join(root, app));
}

/** Everything that is installed here, for an app somewhere else. */
export function linkPackages(app: string, to = root): void {
  const modules = path.join(app, "node_modules");
  mkdirSync(modules, { recursive: true });
  for (const name of readdirSync(path.join(root, "node_modules"))) {
    if (name !== "convex-conveyor") {
      symlinkSync(path.join(root, "node_modules", name), path.join(modules, name));
    }
  }
  linkPackage(app, to);
}
