/** Lines of an import: users with a board and pins each, who like and follow each other. */
export function madeGraph(users: number): readonly string[] {
	const lines: object[] = [];
	for (let n = 0; n < users; n++) {
		lines.push({
			type: "User",
			key: `u:${n}`,
			fields: { username: `pinner${n}`, name: `Pinner ${n}` },
		});
	}
	for (let n = 0; n < users; n++) {
		const owner = `u:${n}`;
		lines.push({
			type: "Board",
			key: `b:${n}`,
			fields: { owner, name: `Board of ${n}` },
		});
		for (let nth = 0; nth < 5; nth++) {
			const fields = {
				board: `b:${n}`,
				details: `Pin ${nth} of ${n}`,
				link: `https://example.com/${n}/${nth}`,
				...(n > 0 && nth === 0 && { origin: `p:${n - 1}:1` }),
			};
			lines.push({ type: "Pin", key: `p:${n}:${nth}`, fields });
		}
	}
	for (let n = 1; n < users; n++) {
		lines.push(
			{ edge: "likePin", from: `u:${n}`, to: `p:${n - 1}:2` },
			{ edge: "followUser", from: `u:${n}`, to: `u:${n - 1}` },
		);
	}
	return lines.map((line) => JSON.stringify(line));
}
