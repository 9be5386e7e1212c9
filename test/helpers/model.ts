import { resolvers } from "../../src/domain/resolvers/all.ts";
import { loadModel, type ReadModel } from "../../src/model/read.ts";

let read: ReadModel | undefined;

/** The model of `schema/`, as the program itself reads it. */
export function theModel(): ReadModel {
	read ??= loadModel(new URL("../../schema", import.meta.url).pathname, {
		resolved: new Set(resolvers.keys()),
	});
	return read;
}
