// A thread of an installed package has to strip types by itself, like the main
// thread.
import * as module from "node:module";
import { stripTypesOfPackages } from "../util/stripTypesOfPackages.mjs";

stripTypesOfPackages(module, new URL("../", import.meta.url));
await import("./rankerThread.ts");
