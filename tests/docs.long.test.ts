/** The documents are in the package as npm packs it. */
import { execFileSync } from "node:child_process";
import path from "node:path";
import { expect, test } from "vitest";
import { root } from "./support/paths.js";
import { linksOf, repositoryFiles } from "./support/sources.js";

const isInDocs = (file: string) => file.startsWith("docs/");
const documents = repositoryFiles(/\.md$/);

// Shows N9.
test("the package ships the documents, and none of their pictures", () => {
  const pack = ["pack", "--dry-run", "--ignore-scripts", "--json"];
  const [{ files }] = JSON.parse(
    execFileSync("npm", pack, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
  ) as [{ files: { path: string }[] }];
  const shipped = files.map((file) => file.path);
  const wanted = ["README.md", "CHANGELOG.md", "llms.txt", ...documents.filter(isInDocs)];
  expect(shipped).toEqual(expect.arrayContaining(wanted));
  expect(shipped.filter((file) => isInDocs(file) && !file.endsWith(".md"))).toEqual([]);
  // A link of these pages leads to a page that is shipped too; pictures are left out.
  const dangling = wanted.flatMap((file) =>
    linksOf(file)
      .filter((link) => !link.startsWith("#"))
      .map((link) => path.join(path.dirname(file), link.split("#")[0]!))
      .filter((target) => !target.endsWith(".png") && !shipped.includes(target))
      .map((target) => `${file}: ${target}`),
  );
  expect(dangling).toEqual([]);
});
