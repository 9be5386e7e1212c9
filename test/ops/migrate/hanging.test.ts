import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { runHere } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";

const mappingOf = (folder: string) => `
import { migration, ref } from "corkboard";
export default migration({
	source: ${JSON.stringify(`file:${folder}`)},
	types: {
		User: { table: "users", key: "id", fields: { username: "login" } },
		Board: { table: "boards", key: "id", deleted: "deleted", fields: { name: "title", owner: ref("User", "user_id") } },
		Pin: { table: "pins", key: "id", deleted: "deleted", fields: { details: "text", board: ref("Board", "board_id"), origin: ref("Pin", "copied_from") } },
		Comment: { table: "comments", key: "id", fields: { text: "text", author: ref("User", "user_id"), pin: ref("Pin", "pin_id") } },
	},
	edges: {
		likePin: { table: "likes", from: ref("User", "user_id"), to: ref("Pin", "pin_id") },
	},
});
`;

it("counts apart what hangs on rows that are deleted there or were refused, and finishes without it", async () => {
	using folder = temporaryFolder();
	const write = (table: string, ...lines: readonly string[]) =>
		writeFileSync(join(folder.path, `${table}.csv`), `${lines.join("\n")}\n`);
	const rows = (login: string, origin: string) => {
		write("users", "id,login", "1,ada", `2,${login}`);
		write(
			"pins",
			"id,board_id,text,copied_from,deleted",
			"1,1,Rye,,0",
			"2,1,Oat,,1",
			"3,2,Of one who was refused,,0",
			`4,1,Alive,${origin},0`,
			"5,3,On a deleted board,,0",
			"6,1,Copied from each other,7,0",
			"7,1,Copied from each other,6,0",
		);
	};
	rows("x", "2");
	write(
		"boards",
		...["id,user_id,title,deleted", "1,1,Loaves,0", "2,2,Buns,0", "3,1,Old,1"],
	);
	write("comments", "id,user_id,pin_id,text", "1,1,1,a", "2,1,2,b", "3,1,5,c");
	write("likes", "user_id,pin_id", "1,1", "1,2", "1,3", "1,99");
	const mapping = join(folder.path, "old.ts");
	writeFileSync(mapping, mappingOf(folder.path));
	const env = { CORKBOARD_DATA: join(folder.path, "data") };
	const migrate = (...args: readonly string[]) =>
		runHere(["migrate", ...args], { env });

	const checked = await migrate("check", mapping);
	assert.match(
		checked.out,
		/Pin \(pins\)[^\n]*\n +1 +origin: "Pin:2" is deleted there\. \(Pin:4\)\nThey belong to rows that are deleted there[^\n]*\n +1 +board: "Board:3" is deleted there\. \(Pin:5\)\n/,
	);
	for (const round of [1, 2]) {
		const { out, code } = await migrate("run", mapping);
		assert.equal(code, 1, `pass ${round}`);
		assert.match(out, / bad +with refused +with deleted +newer here /);
		// The like of nothing, and one of the two that name each other.
		assert.match(out, / {2}4 +4 +4 +0 +[\d.]+ s\n/);
	}
	const reasons = (await migrate("bad", mapping, "--by-reason")).out;
	const [decide = "", refused = "", deleted = ""] = reasons.split(/They .*:\n/);
	const keys = (text: string) =>
		[...text.matchAll(/\(([^()]*)\)\n/g)]
			.flatMap(([, some = ""]) => some.split(", "))
			.toSorted();
	assert.deepEqual(keys(decide), [
		...["Pin:4", "Pin:7", "User:2", "likePin User:1 Pin:99"],
	]);
	assert.deepEqual(keys(refused), [
		...["Board:2", "Pin:3", "Pin:6", "likePin User:1 Pin:3"],
	]);
	assert.deepEqual(keys(deleted), [
		...["Comment:2", "Comment:3", "Pin:5", "likePin User:1 Pin:2"],
	]);

	const show = async (key: string) =>
		(await migrate("show", mapping, key)).out.split("\n")[0];
	assert.equal(
		await show("User:2"),
		'User:2: bad: username must be 3 to 30 of A-Z a-z 0-9 _, got "x".',
	);
	assert.equal(
		await show("Board:2"),
		'Board:2: bad: owner: "User:2" was refused.',
	);

	const early = await migrate("finish", mapping);
	assert.equal(early.code, 1);
	assert.match(early.out, /\n4 rows were refused and are not here/);
	rows("xenia", "");
	write("likes", "user_id,pin_id", "1,1", "1,2", "1,3");
	const late = await migrate("finish", mapping, "--accept-bad");
	assert.match(late.out, / {2}1 +1 +4 +0 +[\d.]+ s\n/);
	// The two that name each other.
	assert.equal(late.code, 0, late.out);
});
