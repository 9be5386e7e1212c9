import { resolvers } from "../../src/domain/resolvers/all.ts";
import { loadModel, type ModelAndSchema } from "../../src/model/read.ts";

let read: ModelAndSchema | undefined;

/** The model of `schema/`, as the program itself reads it. */
export function theModel(): ModelAndSchema {
	read ??= loadModel(new URL("../../schema", import.meta.url).pathname, {
		resolverFields: new Set(resolvers.keys()),
	});
	return read;
}
