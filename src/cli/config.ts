/** What the standalone page is told by the program that serves it. */
export interface PageConfig {
  /** Of the deployment. */
  readonly url: string;
  /** The module that has the dashboard's functions. */
  readonly module: string;
  readonly token?: string;
  readonly adminKey?: string;
  /** As whom an administrator calls. */
  readonly identity?: Record<string, unknown>;
}
