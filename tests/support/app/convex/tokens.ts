import { conveyor } from "./queues.js";

export const { create, revoke, list } = conveyor.tokenApi();
