/**
 * From a client's frame to a message, checked for shape: later code can rely on it. A frame that is none ends the
 * connection for good, since the client would send it again.
 */
import { PlatformError } from "../../functions/errors.js";
import { decodeTs } from "../timestamps.js";
import type { AddQuery, ClientMessage, RemoveQuery } from "./messages.js";

type Fields = Record<string, unknown>;

export function parseMessage(frame: string): ClientMessage {
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch (error) {
    throw invalid((error as Error).message);
  }
  const message = object(value, "A message");
  switch (message["type"]) {
    case "Connect":
      checkConnect(message);
      break;
    case "Authenticate":
      checkAuthenticate(message);
      break;
    case "ModifyQuerySet":
      whole(message, "baseVersion");
      whole(message, "newVersion");
      list(message, "modifications").forEach(checkModification);
      break;
    case "Mutation":
    case "Action":
      whole(message, "requestId");
      checkCall(message);
      break;
    case "Event":
      text(message, "eventType");
      break;
    default:
      throw invalid(`unknown message type ${JSON.stringify(message["type"])}`);
  }
  return message as unknown as ClientMessage;
}

function checkConnect(message: Fields): void {
  text(message, "sessionId");
  whole(message, "connectionCount");
  optional(message, "lastCloseReason", text);
  optional(message, "clientTs", number);
  optional(message, "maxObservedTimestamp", (fields, name) => {
    text(fields, name);
    try {
      decodeTs(fields[name] as string);
    } catch (error) {
      throw invalid(`${name}: ${(error as Error).message}`);
    }
  });
}

function checkAuthenticate(message: Fields): void {
  whole(message, "baseVersion");
  const { tokenType } = message;
  if (tokenType === "None") return;
  if (tokenType !== "Admin" && tokenType !== "User") {
    throw invalid(`tokenType must be "Admin", "User" or "None", got ${JSON.stringify(tokenType)}`);
  }
  text(message, "value");
}

function checkModification(value: unknown): asserts value is AddQuery | RemoveQuery {
  const modification = object(value, "A modification");
  whole(modification, "queryId");
  if (modification["type"] === "Remove") return;
  if (modification["type"] !== "Add") {
    throw invalid(
      `a modification is "Add" or "Remove", got ${JSON.stringify(modification["type"])}`,
    );
  }
  checkCall(modification);
  optional(modification, "journal", text);
}

function checkCall(fields: Fields): void {
  text(fields, "udfPath");
  list(fields, "args");
  optional(fields, "componentPath", text);
}

function object(value: unknown, what: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw invalid(`${what} must be a JSON object`);
}

function list(fields: Fields, name: string): unknown[] {
  const value = fields[name];
  if (Array.isArray(value)) return value;
  throw wrong(fields, name, "an array");
}

function text(fields: Fields, name: string): void {
  if (typeof fields[name] !== "string") throw wrong(fields, name, "a string");
}

function number(fields: Fields, name: string): void {
  if (typeof fields[name] !== "number") throw wrong(fields, name, "a number");
}

/** Versions and numbers of requests are counted in 32 bits. */
function whole(fields: Fields, name: string): void {
  const value = fields[name];
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32) return;
  throw wrong(fields, name, "a whole number from 0 to 4294967295");
}

function optional(
  fields: Fields,
  name: string,
  check: (fields: Fields, name: string) => void,
): void {
  if (fields[name] !== undefined && fields[name] !== null) check(fields, name);
}

function wrong(fields: Fields, name: string, expected: string): PlatformError {
  return invalid(`${name} must be ${expected}, got ${JSON.stringify(fields[name])}`);
}

function invalid(why: string): PlatformError {
  return new PlatformError(
    400,
    "WSMessageInvalidJson",
    `Received Invalid JSON on websocket: ${why}`,
  );
}
