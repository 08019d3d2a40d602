/**
 * The push, step by step, as the CLI takes it: start (evaluate, nothing visible), wait for the schema (check the rows),
 * finish (everything visible at once). It also keeps the environment variables, since they are part of the deployment.
 *
 * Code generation is a push that stops after start, so a started push costs nothing but memory until it is forgotten.
 */
import type { Database } from "../engine/types.js";
import { Fifo } from "../functions/fifo.js";
import type { Deployment, FunctionRunner, ModuleSource } from "../functions/types.js";
import { evaluateAuthConfig } from "./authConfig.js";
import { indexDifferences, pushDifference, type PushDifference } from "./differences.js";
import {
  changeEnvironment,
  type EnvironmentChange,
  type EnvironmentVariables,
} from "./environment.js";
import { evaluate, type Evaluation } from "./evaluation.js";
import { describe, failure } from "./failures.js";
import { hashesOf } from "./hashes.js";
import { sandboxImporter } from "./importing.js";
import { kept, keeping, type Kept } from "./keeping.js";
import { checkedTree, mount, type EvaluatedDefinitions } from "./mounting.js";
import { parsePushRequest, type PushRequest } from "./request.js";
import { checkSchemas, schemasOf, type SchemaStatus } from "./schemas.js";
import type { EvaluationTask } from "./threadEvaluation.js";

/** A push that was started and not finished. */
interface PendingPush {
  definitions: EvaluatedDefinitions;
  deployment: Deployment;
  functions: string;
  /** The generation it was started on: if another push or an environment change came first, it must start again. */
  generation: number;
}

/** Started pushes that are never finished (code generation) are forgotten, oldest first. */
const MAX_PENDING_PUSHES = 16;

export interface PusherOptions {
  database: Database;
  runner: FunctionRunner;
  /** Variables that are set from the outset, as if by `convex env set`. */
  environment?: Record<string, string>;
  /** Where clients reach the backend and its HTTP actions. */
  urls: { cloud: string; site: string };
  /**
   * Runs the app's modules to read their definitions. Defaults to this thread, which one that never ends would hang.
   */
  evaluate?: (task: EvaluationTask) => Promise<Evaluation>;
}

function evaluateHere({ request, env, deployed }: EvaluationTask): Promise<Evaluation> {
  return evaluate(request, sandboxImporter(env), deployed);
}

export class Pusher {
  readonly #options: PusherOptions;
  readonly #builtin: EnvironmentVariables;
  readonly #pending = new Map<string, PendingPush>();
  readonly #installed = new Set<() => void>();
  /** Changes of the deployment go one at a time: each builds on the result of the one before. */
  readonly #changes = new Fifo();
  #definitions: EvaluatedDefinitions = new Map();
  #functions = "convex/";
  #variables: EnvironmentVariables;
  #generation = 0;
  #started = 0;

  constructor(options: PusherOptions) {
    this.#options = options;
    this.#builtin = new Map([
      ["CONVEX_CLOUD_URL", options.urls.cloud],
      ["CONVEX_SITE_URL", options.urls.site],
    ]);
    const initial = Object.entries(options.environment ?? {});
    this.#variables = changeEnvironment(
      new Map(),
      initial.map(([name, value]) => ({ name, value })),
      this.#builtin,
    );
  }

  /** Serves again the deployment of the moment when the backend stopped, if there was one. Before the first call. */
  async restore(): Promise<void> {
    const { definitions, functions, variables } = kept(this.#options.database.settings);
    // Variables given at this start are as if set now.
    this.#variables = new Map([...variables, ...this.#variables]);
    if (definitions.size === 0) return;
    this.#definitions = definitions;
    this.#functions = functions;
    const deployment = await this.#deploymentOf(definitions, this.#variables);
    await this.#options.runner.install(deployment, schemasOf(deployment));
  }

  /**
   * Makes visible a deployment that was evaluated elsewhere, in place of a push: with the variables that are in it. It
   * is not kept: the next start must give it again.
   */
  install(deployment: Deployment): Promise<void> {
    return this.#changes.run(async () => {
      await this.#options.runner.install(deployment, schemasOf(deployment));
      // Pushes that were started on the earlier deployment must start again.
      this.#generation++;
      this.#announce();
    });
  }

  get variables(): EnvironmentVariables {
    return this.#variables;
  }

  /** Calls back whenever other code or other variables have become visible. Returns the way to stop. */
  onInstalled(listener: () => void): () => void {
    this.#installed.add(listener);
    return () => this.#installed.delete(listener);
  }

  /** The app's modules by hash, so that the CLI sends only modules that changed. */
  configHashes(): unknown {
    return {
      config: { functions: this.#functions },
      moduleHashes: hashesOf(this.#appModules.values()).map(({ path, environment, sha256 }) => ({
        path,
        environment,
        hash: sha256,
      })),
      nodeDependencies: [],
    };
  }

  async start(body: unknown): Promise<unknown> {
    const request = parsePushRequest(body);
    const generation = this.#generation;
    const { definitions, analysis } = await this.#evaluate(request);
    const deployment = await this.#deploymentOf(definitions, this.#variables);
    const id = String(++this.#started);
    this.#remember(id, { definitions, deployment, functions: request.functions, generation });
    return {
      environmentVariables: Object.fromEntries(this.#variables),
      externalDepsId: null,
      componentDefinitionPackages: {},
      appAuth: deployment.auth ?? [],
      analysis,
      app: checkedTree(definitions),
      schemaChange: this.#schemaChange(id, deployment),
    };
  }

  #evaluate(request: PushRequest): Promise<Evaluation> {
    const evaluateTask = this.#options.evaluate ?? evaluateHere;
    const env = new Map([...this.#variables, ...this.#builtin]);
    return evaluateTask({ request, env, deployed: this.#appModules });
  }

  /** `convex deploy` asks this before it pushes: which indexes would change. */
  async evaluate(body: unknown): Promise<unknown> {
    const request = parsePushRequest(body);
    const { definitions } = await this.#evaluate(request);
    const deployment = await this.#deploymentOf(definitions, this.#variables);
    return { schemaChange: this.#schemaChange("", deployment) };
  }

  async waitForSchema(body: unknown): Promise<SchemaStatus> {
    const push = this.#find((body as { schemaChange?: unknown } | undefined)?.schemaChange);
    if (push.generation !== this.#generation) return { type: "raceDetected" };
    return checkSchemas(this.#options.database, push.deployment);
  }

  finish(body: unknown): Promise<PushDifference> {
    return this.#changes.run(() => this.#finish(body));
  }

  async #finish(body: unknown): Promise<PushDifference> {
    const { startPush, dryRun } = (body ?? {}) as {
      startPush?: { schemaChange?: unknown };
      dryRun?: boolean;
    };
    const push = this.#find(startPush?.schemaChange);
    if (push.generation !== this.#generation) {
      throw failure(
        "RaceDetected",
        "Functions or environment variables changed while this push was on its way. Push again.",
      );
    }
    const difference = pushDifference(this.#options.runner.deployment, push.deployment);
    if (dryRun === true) return difference;
    await this.#install(push.deployment, {
      definitions: push.definitions,
      functions: push.functions,
      variables: this.#variables,
    });
    // Of two pushes that finish together, the second must start again.
    this.#generation++;
    this.#definitions = push.definitions;
    this.#functions = push.functions;
    this.#pending.clear();
    this.#announce();
    return difference;
  }

  changeEnvironment(changes: EnvironmentChange[]): Promise<void> {
    return this.#changes.run(() => this.#changeEnvironment(changes));
  }

  async #changeEnvironment(changes: EnvironmentChange[]): Promise<void> {
    const variables = changeEnvironment(this.#variables, changes, this.#builtin);
    const settings = this.#keeping({
      definitions: this.#definitions,
      functions: this.#functions,
      variables,
    });
    if (this.#definitions.size > 0) {
      const deployment = await this.#deploymentOf(this.#definitions, variables);
      await this.#options.runner.install(deployment, [], settings);
    } else {
      await this.#options.database.applySchemas([], undefined, settings);
    }
    // Pushes that were evaluated with the old variables must start again.
    this.#generation++;
    this.#variables = variables;
    this.#announce();
  }

  /**
   * Rows are checked again, since functions went on writing after `wait_for_schema`. Tables, indexes and code of all
   * instances become visible in one step, or none does: no code ever runs with another push's indexes.
   */
  async #install(deployment: Deployment, what: Kept): Promise<void> {
    const status = await checkSchemas(this.#options.database, deployment);
    if (status.type === "failed") throw failure("InvalidSchema", status.error);
    try {
      const schemas = schemasOf(deployment);
      await this.#options.runner.install(deployment, schemas, this.#keeping(what));
    } catch (error) {
      throw failure("InvalidSchema", describe(error));
    }
  }

  #keeping(what: Kept): ReadonlyMap<string, string | null> {
    return keeping(what, this.#options.database.settings);
  }

  async #deploymentOf(
    definitions: EvaluatedDefinitions,
    variables: EnvironmentVariables,
  ): Promise<Deployment> {
    const deployment = mount(definitions, variables, this.#builtin);
    const { modules } = definitions.get("")!.component;
    const auth = await evaluateAuthConfig(modules, new Map([...variables, ...this.#builtin]));
    return { ...deployment, auth };
  }

  get #appModules(): ReadonlyMap<string, ModuleSource> {
    return this.#definitions.get("")?.component.modules ?? new Map();
  }

  #schemaChange(id: string, deployment: Deployment): unknown {
    return {
      allocatedComponentIds: {},
      schemaIds: {},
      indexDiffs: indexDifferences(this.#options.runner.deployment, deployment),
      // The CLI hands this object back unread: it is how a later step finds its push.
      pushId: id,
    };
  }

  #remember(id: string, push: PendingPush): void {
    this.#pending.set(id, push);
    for (const oldest of this.#pending.keys()) {
      if (this.#pending.size <= MAX_PENDING_PUSHES) break;
      this.#pending.delete(oldest);
    }
  }

  #find(schemaChange: unknown): PendingPush {
    const id = (schemaChange as { pushId?: unknown } | undefined)?.pushId;
    const push = typeof id === "string" ? this.#pending.get(id) : undefined;
    if (push) return push;
    throw failure(
      "RaceDetected",
      "This push is not known (any more): another push was finished, or the backend was started again. Push again.",
    );
  }

  #announce(): void {
    for (const listener of this.#installed) listener();
  }
}
