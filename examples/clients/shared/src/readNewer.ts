import { patientFetch } from "./patientFetch.ts";

const NEWER = `query Newer($username: String!, $before: String) {
	user(by: { username: $username }) {
		pins(last: 20, before: $before) {
			nodes { id title }
			pageInfo { hasPreviousPage startCursor }
		}
	}
}`;

export interface NewPin {
	readonly id: string;
	readonly title: string | null;
}

/** The pins above a cursor, newest first, and the cursor for the next call. */
export async function readNewer(options: {
	readonly url: string;
	readonly token: string | null;
	readonly username: string;
	/** `startCursor` of the page that is shown. */
	readonly before: string;
}): Promise<{ readonly pins: readonly NewPin[]; readonly before: string }> {
	const { url, token, username } = options;
	const pins: NewPin[] = [];
	let before = options.before;
	for (;;) {
		const variables = JSON.stringify({ username, before });
		// By GET, so that a browser sends the ETag it has and takes 304 for an answer.
		const response = await patientFetch(
			`${url}?${new URLSearchParams({ query: NEWER, variables })}`,
			{
				headers: {
					accept: "application/json",
					"apollo-require-preflight": "1",
					...(token !== null && { authorization: `Bearer ${token}` }),
				},
			},
		);
		const { data, errors } = await response.json();
		if (errors) throw new Error(errors[0].message);
		if (!data.user) return { pins, before };
		const { nodes, pageInfo } = data.user.pins;
		pins.unshift(...nodes.filter((node: NewPin | null) => node !== null));
		before = pageInfo.startCursor ?? before;
		// More than 20 are new: the next ones above.
		if (!pageInfo.hasPreviousPage) return { pins, before };
	}
}
