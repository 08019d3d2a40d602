// Names: addBulk name data
import { emails } from "./emails";

export const newsletter = (readers: string[]) =>
  emails.addBulk(readers.map((to) => ({ name: "send", data: { to } })));
