import { join } from "node:path";
import { resolvers } from "../domain/resolvers/all.ts";
import { loadModel, type ModelAndSchema } from "../model/read.ts";

/** The SDL that comes with the program, with the fields that have resolvers. */
export const SCHEMA_FOLDER = join(import.meta.dirname, "../../schema");

export function loadOwnModel(): ModelAndSchema {
	return loadModel(SCHEMA_FOLDER, {
		resolverFields: new Set(resolvers.keys()),
	});
}
