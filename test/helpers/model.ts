import { loadOwnModel, type OwnModel } from "../../src/app/model.ts";

let read: OwnModel | undefined;

/** The model of `schema/` and its domain, as the program itself reads them. */
export function theModel(): OwnModel {
	read ??= loadOwnModel();
	return read;
}
