import { races } from "./queues.js";

export const { enqueueBatch } = races.api({ authorize: async () => {} });
