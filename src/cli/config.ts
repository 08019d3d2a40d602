/** Settings that the serving program sends to the standalone page: no credential, and no address of the deployment. */
export interface PageConfig {
  /** Of the deployment, for titles: its host. */
  readonly name: string;
  /** The module that has the dashboard's functions. */
  readonly module: string;
  /** The program signs in: the page has to ask for it, at the moment that its client's protocol provides. */
  readonly signsIn: boolean;
}

/** Where the deployment is for the page, relative to its own address. */
export const RELAY_PATH = "deployment";
