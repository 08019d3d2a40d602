/** `npm run page`, a step of packing: the page of `npx convex-conveyor dashboard`. */
import { buildPage } from "../harness/page.js";

await buildPage();
