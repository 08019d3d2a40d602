import { conveyor } from "./queues.js";

export const { create, rotate, revoke, list } = conveyor.tokenApi();
