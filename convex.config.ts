/** A signpost: the component is defined in `src/component/convex.config.ts`. Nothing may import this file. */
export { default } from "./src/component/convex.config.js";
