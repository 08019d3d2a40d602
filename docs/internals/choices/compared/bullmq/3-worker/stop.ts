import Redis from "ioredis";
import { connection } from "./emails";

const stops = new Redis(connection);
export const stop = (id: string) => stops.publish("stops", id);
