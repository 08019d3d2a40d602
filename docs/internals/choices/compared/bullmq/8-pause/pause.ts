// Names: pause close
import { emails } from "./emails";

await emails.pause();
await emails.close();
