import { randomBytes } from "node:crypto";

export const TEMPORARY = ".temporary";

/** The name under which a file is written before it is renamed into place. A process id would not do: two containers on one volume may both be process 1. */
export function temporaryName(file: string): string {
	return `${file}.${randomBytes(6).toString("hex")}${TEMPORARY}`;
}
