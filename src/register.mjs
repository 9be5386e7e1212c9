// `node --import corkboard/register` runs a file that imports from `corkboard`: Node
// does not strip the types of packages by itself.
import * as module from "node:module";
import { stripTypesOfPackages } from "./util/stripTypesOfPackages.mjs";

stripTypesOfPackages(module, new URL("../", import.meta.url));
