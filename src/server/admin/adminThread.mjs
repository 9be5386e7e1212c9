// A thread of an installed package has to strip types by itself, like the main
// thread.
import * as module from "node:module";
import { stripTypesOfPackages } from "../../util/stripTypesOfPackages.mjs";

stripTypesOfPackages(module, new URL("../../", import.meta.url));
await import("./adminThread.ts");
// Node keeps what it compiled at an end in order; of one that is killed this keeps it.
module.flushCompileCache();
