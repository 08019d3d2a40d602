/** The sync protocol's messages, as the `convex` package writes them on the wire (`browser/sync/protocol.ts`). */
import type { JSONValue } from "convex/values";

export interface Connect {
  type: "Connect";
  sessionId: string;
  connectionCount: number;
  lastCloseReason: string | null;
  maxObservedTimestamp?: string | null;
  /** The client's clock, in milliseconds. */
  clientTs?: number;
}

export interface Authenticate {
  type: "Authenticate";
  tokenType: "Admin" | "User" | "None";
  value?: string;
  baseVersion: number;
  impersonating?: unknown;
}

export interface AddQuery {
  type: "Add";
  queryId: number;
  udfPath: string;
  args: JSONValue[];
  journal?: string | null;
  componentPath?: string;
}

export interface RemoveQuery {
  type: "Remove";
  queryId: number;
}

export interface ModifyQuerySet {
  type: "ModifyQuerySet";
  baseVersion: number;
  newVersion: number;
  modifications: (AddQuery | RemoveQuery)[];
}

export interface FunctionRequest {
  type: "Mutation" | "Action";
  requestId: number;
  udfPath: string;
  args: JSONValue[];
  componentPath?: string;
}

export type ClientMessage =
  | Connect
  | Authenticate
  | ModifyQuerySet
  | FunctionRequest
  | { type: "Event"; eventType: string; event: unknown };

export interface StateVersion {
  querySet: number;
  identity: number;
  ts: string;
}

export type Modification =
  | {
      type: "QueryUpdated";
      queryId: number;
      value: JSONValue;
      logLines: string[];
      journal: string | null;
    }
  | {
      type: "QueryFailed";
      queryId: number;
      errorMessage: string;
      errorData?: JSONValue;
      logLines: string[];
      journal: string | null;
    }
  | { type: "QueryRemoved"; queryId: number };

export interface Transition {
  type: "Transition";
  startVersion: StateVersion;
  endVersion: StateVersion;
  modifications: Modification[];
  /** By how many milliseconds the client's clock was ahead, the way here included; `null` when it did not tell. */
  clientClockSkew: number | null;
  /** When this was sent, in nanoseconds since the epoch. */
  serverTs: number;
}

/** Part of a transition's JSON. */
export interface TransitionChunk {
  type: "TransitionChunk";
  chunk: string;
  partNumber: number;
  totalParts: number;
  transitionId: string;
}

/** Messages that are sent whole; a transition may need parts. */
export type PlainMessage =
  | {
      type: "MutationResponse";
      requestId: number;
      success: true;
      result: JSONValue;
      ts: string;
      logLines: string[];
    }
  | {
      type: "ActionResponse";
      requestId: number;
      success: true;
      result: JSONValue;
      logLines: string[];
    }
  | {
      type: "MutationResponse" | "ActionResponse";
      requestId: number;
      success: false;
      result: string;
      errorData?: JSONValue;
      logLines: string[];
    }
  | { type: "AuthError"; error: string; baseVersion: number; authUpdateAttempted: boolean }
  | { type: "FatalError"; error: string }
  | { type: "Ping" };
