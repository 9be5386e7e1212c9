import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/** The folders of all apps of this repository. */
export const APPS: readonly string[] = [
	"pins",
	"examples/events",
	"examples/recipes",
	"create-corkboard/template",
].map((folder) => join(ROOT, folder));
