import assert from "node:assert/strict";
import { it } from "node:test";
import { scaffold } from "../../../src/ops/migrate/scaffold.ts";
import type { Column } from "../../../src/ops/migrate/sources/source.ts";
import { theFieldReaders, theModel } from "../../helpers/model.ts";

/** `id* int`: a part of the key; `user_id > users`: a foreign key. */
function columns(...texts: readonly string[]): readonly Column[] {
	return texts.map((text) => {
		const [, name = "", key, leadsTo] =
			/^(\w+)(\*?)(?: > (\w+))?$/.exec(text) ?? [];
		return {
			name,
			type: /_at$/.test(name) ? "timestamp with time zone" : "text",
			isNullable: true,
			isKey: key === "*",
			leadsTo: leadsTo ?? null,
			characterSet: null,
		};
	});
}

function guess(
	tables: Readonly<Record<string, readonly Column[]>>,
	named: Readonly<Record<string, string>> = {},
): string {
	const { model } = theModel();
	const source = {
		shownUrl: "mysql://old/forum",
		tables: new Map(Object.entries(tables)),
	};
	const fields = theFieldReaders();
	return scaffold({ model, fields }, source, new Map(Object.entries(named)));
}

it("takes tables that are named for types, and guesses references to them by foreign keys", () => {
	const forum = {
		community: columns("id*", "name", "published_at", "updated_at"),
		local_user: columns(
			"id*",
			"person_id > person",
			"invited_by_id > local_user",
		),
		person: columns("id*", "name", "published_at", "updated_at"),
		post: columns(
			...[
				"id*",
				"creator_id > person",
				"community_id > community",
				"updated_at",
			],
		),
	};
	const named = { User: "person", Board: "community", Pin: "post" };
	const text = guess(forum, named);
	for (const line of [
		'table: "person",',
		'table: "community",',
		'board: ref("Board", "community_id"),',
		'owner: ref("User", "creator_id"),',
		'createdAt: utc("published_at"), // a guess',
		"// followUser: no table looks like it.",
	]) {
		assert.ok(text.includes(line), line);
	}
	assert.throws(
		() => guess(forum, { Board: "comunity" }),
		/--tables: there is no table comunity\. Did you mean community\?/,
	);
	// When a row was changed is not when it was made.
	assert.doesNotMatch(text, /createdAt: utc\("updated_at"\)/);
});

it("looks behind the prefix that all tables have", () => {
	const text = guess({
		cpg_comments: columns("msg_id*", "msg_body"),
		cpg_users: columns("user_id*", "user_name"),
	});
	for (const table of ["cpg_comments", "cpg_users"]) {
		assert.ok(text.includes(`table: "${table}",`), table);
	}
});
