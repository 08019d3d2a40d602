/** A new version of the code is pushed while everything runs, and the old one again. */
import type { ComponentInstance, Deployment } from "../../../local/functions/types.js";
import type { Part } from "../part.js";
import { kept, running } from "../moments.js";
import { deployedIn } from "../workloads/secondMount.js";

export const newVersion: Part = {
  name: "new version",
  about:
    "another version of the app and the component is pushed in the middle, or the old one back",
  chance: 0.15,
  plan(draw, plan) {
    return Array.from({ length: draw.pick([1, 1, 2]) }, (_, i) => ({
      at: draw.between(0, plan.faultsMs),
      do: "new version.push",
      version: i % 2 === 0 ? "next" : "first",
    }));
  },
  perform: {
    push(simulation, { version }) {
      if (running(simulation) === null) return;
      const { deployment, next } = simulation.given.built;
      const pushed = version === "next" ? (next ?? nextOf(deployment)) : deployment;
      // It may die meanwhile: then it is as it was.
      simulation.world.install(deployedIn(simulation, pushed)).then(
        () => simulation.happened("is pushed"),
        () => null,
      );
    },
  },
  marks: ["is pushed"],
};

/**
 * The same in every line, and yet another deployment: instances, contexts and modules of its own. Made once, so that these are
 * kept.
 */
const nextOf = kept((deployment: Deployment): Deployment => {
  const instances = new Map(
    [...deployment.instances].map(([namespace, instance]) => [namespace, another(instance)]),
  );
  return { ...deployment, instances };
});

function another(instance: ComponentInstance): ComponentInstance {
  const { definition } = instance;
  const modules = new Map(
    [...definition.modules].map(([path, module]) => [
      path,
      { ...module, source: `${module.source}\n// The next version.` },
    ]),
  );
  return { ...instance, definition: { ...definition, modules } };
}
