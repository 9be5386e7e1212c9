import { spellRequest } from "../requests.ts";
import { documentOf } from "./documents.ts";
import type { Person, SessionLoad } from "./messages.ts";
import type { Ask } from "./session.ts";

/** A whole HTTP request of a person. */
export function requestOf(
	ask: Ask,
	person: Pick<Person, "user" | "token">,
	{ flavor, way, suffix }: Pick<SessionLoad, "flavor" | "way" | "suffix">,
): string {
	const text = documentOf(flavor, ask.kind);
	const variables =
		flavor === "postgraphile" ? rowVariables(ask, person) : variablesOf(ask);
	return spellRequest(
		{ text: way === "text" ? text + suffix : text, variables },
		way,
		person.token === null ? {} : { token: person.token },
	);
}

function variablesOf({ kind, id, after, details }: Ask) {
	switch (kind) {
		case "likePin":
			return { input: { pinId: id } };
		case "createPin":
			return { input: { boardId: id, details, link: LINK } };
		case "followUser":
			return { input: { userId: id } };
		default:
			return after === null ? { id } : { id, after };
	}
}

const LINK = "https://www.example.com/saved";
let lastSequence = 0;

/** PostGraphile's clients give whole rows, and say who asks. */
function rowVariables(
	{ kind, id, after, details }: Ask,
	{ user, token }: Pick<Person, "user" | "token">,
): Readonly<Record<string, unknown>> {
	lastSequence = Math.max(lastSequence + 1, Date.now() * 1_000);
	const seq = lastSequence;
	switch (kind) {
		case "likePin":
			return { input: { like: { pinId: id, userId: user, seq } } };
		case "createPin":
			return {
				input: {
					pin: { boardId: id, ownerId: user, details, link: LINK, seq },
				},
			};
		case "followUser":
			return {
				input: { follow: { followerId: user, followeeId: id, seq } },
			};
		case "boards":
			return { id, after };
		default:
			return {
				id,
				...(after === null ? {} : { after }),
				viewer: token === null ? "0" : user,
			};
	}
}
