import { z } from "zod";
import { type Id, parseId } from "../../id/ids.ts";

/** An id in the body of a job. */
export const objectId = z.custom<Id>((value) => {
	if (typeof value !== "string") return false;
	const id = parseId(value);
	return id !== "malformed" && id !== "reserved";
}, "expected an id");
