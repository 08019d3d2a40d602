/** What must hold, a promise a file. */
import type { Checker } from "../part.js";
import { stateMachine } from "./stateMachine.js";

export const CHECKERS: readonly Checker[] = [stateMachine];
