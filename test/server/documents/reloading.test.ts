import assert from "node:assert/strict";
import { renameSync, writeFileSync } from "node:fs";
import { suite, test } from "node:test";
import { until } from "../../helpers/until.ts";
import {
	ADA,
	codeOf,
	HELLO,
	NOT_FOUND,
	RELAY_ID,
	relayFile,
	serving,
	sha256,
	variables,
	WHO,
} from "./serving.ts";

suite("when a document file changes,", () => {
	test("new documents run, and removed ones do not", async () => {
		await using served = await serving("strict");
		const { toy, edit } = served;
		edit(JSON.stringify({ new: "{ hello }" }));
		await until(
			"the new document to run",
			async () => (await toy.post({ id: "new" })).status === 200,
		);
		assert.deepEqual(await codeOf(await toy.post({ id: RELAY_ID })), NOT_FOUND);
		// The other file's are untouched.
		const who = await toy.post({ documentId: sha256(WHO) });
		assert.deepEqual(await who.json(), { data: { viewer: null } });
	});

	test("a file with problems is rejected whole, each problem is logged once, and the old documents stay", async () => {
		await using served = await serving("strict");
		const { toy, edit, news } = served;
		edit(JSON.stringify({ ...relayFile, a: "{", b: "{ nothing }", c: 1 }));
		await until("a rejection", () => news.length > 0);
		await new Promise((resolve) => setTimeout(resolve, 400));
		assert.equal(news.length, 1);
		const problems = news[0]?.fields.problems as string[];
		assert.deepEqual(
			problems.map((problem) => problem.replace(/^\S+\.json: /, "")),
			[
				"document c: the text must be a string, got a number",
				"document a:1:2: Syntax Error: Expected Name, found <EOF>.",
				'document b:1:3: Cannot query field "nothing" on type "Query".',
			],
		);
		const response = await toy.post({ id: RELAY_ID, variables });
		assert.deepEqual(await response.json(), ADA);
		edit(JSON.stringify({ better: "{ hello }" }));
		await until(
			"the repaired file to be in use",
			async () => (await toy.post({ id: "better" })).status === 200,
		);
	});

	test("an id with different texts in two files is logged as a problem that names both files", async () => {
		await using served = await serving("strict");
		const { edit, news, paths } = served;
		const id = sha256(WHO);
		const [relay, apollo] = paths;
		const conflict = `${relay}: document ${id}: ${apollo} has another text for this id`;
		edit(JSON.stringify({ [id]: HELLO }));
		await until("a rejection", () => news.length > 0);
		assert.deepEqual(news[0]?.fields.problems, [conflict]);
		edit(JSON.stringify({ [id]: "{", b: "{ nothing }" }));
		await until("another rejection", () => news.length > 1);
		assert.deepEqual(news[1]?.fields, {
			path: relay,
			problems: [
				`${relay}: document ${id}:1:2: Syntax Error: Expected Name, found <EOF>.`,
				`${relay}: document b:1:3: Cannot query field "nothing" on type "Query".`,
				conflict,
			],
		});
	});

	test("a file in conflict with another is loaded once the other no longer conflicts", async () => {
		await using served = await serving("strict");
		const { toy, edit, news, paths } = served;
		edit(JSON.stringify({ [sha256(WHO)]: HELLO }));
		await until("a rejection", () => news.length > 0);
		const [relay, apollo = ""] = paths;
		writeFileSync(`${apollo}.new`, "{}");
		renameSync(`${apollo}.new`, apollo);
		await until("the rejected file to be in use", () =>
			news.some(
				({ fields, message }) =>
					fields.path === relay && message === "document file loaded",
			),
		);
		const response = await toy.post({ id: sha256(WHO), variables });
		assert.deepEqual(await response.json(), ADA);
	});
});
