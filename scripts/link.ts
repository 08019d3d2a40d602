/** Links this package into the apps that import it by name. */
import { linkApps } from "../tests/support/link.js";

linkApps();
