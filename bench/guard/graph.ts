/** Lines to import: one user whose profile, board and followees have all that Q1 to Q4 read, and no more. */
export const SUBJECT = "subject";
const OTHERS = 10;
const BOARDS = 10;
const PINS = 26;
const PINS_OF_OTHERS = 6;
const LIKERS = 4;

export function* guardGraph(): Generator<string> {
	const people = [SUBJECT, ...names(OTHERS)];
	for (const username of people) {
		const fields = { username, name: username, bio: `About ${username}` };
		yield JSON.stringify({ type: "User", key: `u:${username}`, fields });
	}
	const pins: string[] = [];
	for (const username of people) {
		const isSubject = username === SUBJECT;
		for (let board = 0; board < (isSubject ? BOARDS : 1); board++) {
			const key = `b:${username}:${board}`;
			const fields = {
				owner: `u:${username}`,
				name: `Board ${board} of ${username}`,
				description: "Of the guard",
			};
			yield JSON.stringify({ type: "Board", key, fields });
			for (let n = 0; n < (isSubject ? PINS : PINS_OF_OTHERS); n++) {
				const pin = `p:${username}:${board}:${n}`;
				pins.push(pin);
				const details = `Pin ${n} on board ${board} of ${username}, with a few words`;
				const link = `https://example.com/${username}/${board}/${n}`;
				yield JSON.stringify({
					type: "Pin",
					key: pin,
					fields: { board: key, details, link },
				});
			}
		}
	}
	for (const [n, pin] of pins.entries()) {
		for (let k = 0; k < LIKERS; k++) {
			const from = `u:other_${(n + k) % OTHERS}`;
			yield JSON.stringify({ edge: "likePin", from, to: pin });
		}
	}
	for (const other of names(OTHERS)) {
		const [from, to] = [`u:${SUBJECT}`, `u:${other}`];
		yield JSON.stringify({ edge: "followUser", from, to });
	}
}

/** Lines to import: so many users with a board that each of a few shards gets one, who are the writers. */
export function* writersGraph(count: number): Generator<string> {
	for (let n = 0; n < count; n++) {
		const username = `${WRITER}${n}`;
		const user = { username, name: username, bio: "Writes" };
		yield JSON.stringify({ type: "User", key: `u:${username}`, fields: user });
		const board = { owner: `u:${username}`, name: "Board", description: "" };
		yield JSON.stringify({
			type: "Board",
			key: `b:${username}`,
			fields: board,
		});
	}
}

export const WRITER = "writer_";

function names(count: number): readonly string[] {
	return Array.from({ length: count }, (_, n) => `other_${n}`);
}
