/** `npm run page`, a step of packing: the page of `npx convex-conveyor dashboard`. */
import { buildPage } from "./support/page.js";

await buildPage();
