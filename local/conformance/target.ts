/** A target of the cases: something that has the app (`app/convex`) and runs its functions. */
import type { FunctionArgs, FunctionReference, FunctionReturnType } from "convex/server";
import type { Backend } from "../backend.js";

type Reference<Type extends "query" | "mutation" | "action"> = FunctionReference<Type, any>;

export interface Target {
  /** Internal functions too: an admin may call them. */
  query<R extends Reference<"query">>(fn: R, args: FunctionArgs<R>): Promise<FunctionReturnType<R>>;
  mutation<R extends Reference<"mutation">>(
    fn: R,
    args: FunctionArgs<R>,
  ): Promise<FunctionReturnType<R>>;
  action<R extends Reference<"action">>(
    fn: R,
    args: FunctionArgs<R>,
  ): Promise<FunctionReturnType<R>>;
  /** Its URL and its admin key. Only of targets with a server. */
  server(): Server;
  /** The local backend itself, for cases that are `localOnly`. */
  backend(): Backend;
}

export interface Server {
  url: string;
  /** Where HTTP actions are served. */
  siteUrl: string;
  adminKey: string;
}
