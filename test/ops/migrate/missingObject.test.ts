import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { graphInKeys } from "../../helpers/importing.ts";
import { runHere } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";

const mappingOf = (folder: string) => `
import { migration, ref } from "corkboard";
export default migration({
	source: ${JSON.stringify(`file:${folder}`)},
	types: {
		User: { table: "users", key: "id", fields: { username: "login" } },
		Board: { table: "boards", key: "id", fields: { name: "title", owner: ref("User", "user_id") } },
		Pin: { table: "pins", key: "id", deleted: "deleted", fields: { details: "text", board: ref("Board", "board_id"), origin: ref("Pin", "copied_from", { missing: "null" }) } },
	},
});
`;

it("a reference that may be null is null while its object has no row, and comes with the row", async () => {
	using folder = temporaryFolder();
	const write = (table: string, ...lines: readonly string[]) =>
		writeFileSync(join(folder.path, `${table}.csv`), `${lines.join("\n")}\n`);
	write("users", "id,login", "1,ada");
	write("boards", "id,user_id,title", "1,1,Loaves");
	const pins = (...rows: readonly string[]) =>
		write("pins", "id,board_id,text,copied_from,deleted", ...rows);
	const mapping = join(folder.path, "old.ts");
	writeFileSync(mapping, mappingOf(folder.path));
	const data = join(folder.path, "data");
	const migrate = (...args: readonly string[]) =>
		runHere(["migrate", ...args], { env: { CORKBOARD_DATA: data } });
	const pass = async () => {
		const { out } = await migrate("run", mapping, "--json");
		const { pass, bad } = JSON.parse(out);
		return [pass.made, pass.changed, pass.deleted, pass.bad, bad.length];
	};
	const originOf = (text: string) => {
		const [pin = ""] = graphInKeys(data).filter((one) =>
			one.includes(`["details","${text}"]`),
		);
		return /\["origin\w*","(Pin:\d+)"\]/.exec(pin)?.[1] ?? null;
	};
	const first = "1,1,Of nothing,99,0";
	const second = "2,1,Of a deleted one,3,0";
	pins(
		first,
		second,
		"3,1,Deleted,,1",
		"4,1,Of a later one,5,0",
		"5,1,Late,,0",
	);
	const checked = await migrate("check", mapping);
	assert.equal(checked.code, 0, checked.out);
	// The one that a later row is copied to waits for it.
	assert.deepEqual(await pass(), [5, 0, 0, 1, 1]);
	assert.deepEqual(await pass(), [1, 0, 0, 0, 0]);
	assert.deepEqual(await pass(), [0, 0, 0, 0, 0]);
	assert.deepEqual(
		["Of nothing", "Of a deleted one", "Of a later one"].map(originOf),
		[null, null, "Pin:5"],
	);
	const compared = await migrate("compare", mapping, "--all");
	assert.match(compared.out, / 0 differ, 0 newer here, 0 bad/);

	pins(first, second, "3,1,Again,,0", "4,1,Of a later one,5,0");
	assert.deepEqual(await pass(), [1, 1, 1, 1, 1]);
	assert.deepEqual(await pass(), [0, 1, 0, 0, 0]);
	assert.deepEqual(["Of a deleted one", "Of a later one"].map(originOf), [
		"Pin:3",
		null,
	]);
	writeFileSync(
		join(folder.path, "edge.ts"),
		mappingOf(folder.path).replace(
			"	},\n});",
			'	},\n	edges: { likePin: { table: "pins", from: ref("User", "id", { missing: "null" }), to: ref("Pin", "id") } },\n});',
		),
	);
	const refused = await migrate("check", join(folder.path, "edge.ts"));
	assert.match(refused.err, /edges\.likePin\.from cannot be null/);
});
