import { join } from "node:path";
import { createDomain } from "../domain/domain.ts";
import { resolvers } from "../domain/resolvers/resolvers.ts";
import type { Domain } from "../graph/domain.ts";
import { loadModel, type ModelAndSchema } from "../model/read.ts";

/** The SDL that comes with the program. */
export const SCHEMA_FOLDER = join(import.meta.dirname, "../../schema");

export interface OwnModel extends ModelAndSchema {
	readonly domain: Domain;
}

/** The model of the SDL that comes with the program, and the domain that goes with it. */
export function loadOwnModel(): OwnModel {
	const { model, schema } = loadModel(SCHEMA_FOLDER, {
		resolverFields: new Set(resolvers.keys()),
	});
	return { model, schema, domain: createDomain(model) };
}
