import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { type Audit, serverAudits } from "graphql-http";
import { startToy, type Toy } from "../helpers/toyServer.ts";

/**
 * What the audits would like and CSRF prevention forbids, by id: each is a GET
 * with the text of a query and without any header that only a page of ours
 * could send. A page of any origin can make a browser send such a request; here
 * the header is asked for. (A GET that names a document this server was given
 * before needs none.)
 */
const COST_OF_CSRF_PREVENTION: Readonly<Record<string, string>> = {
	"5A70": "MAY accept application/x-www-form-urlencoded formatted GET requests",
	D6D5: "MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/graphql-response+json",
	"6A70":
		"MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/json",
};

/** How many there are in graphql-http 1.23.1: a suite that shrinks proves less. */
const AUDITS = 61;

suite("the audits of graphql-http", () => {
	let toy: Toy;
	let audits: Audit[];
	before(async () => {
		toy = await startToy();
		audits = serverAudits({ url: `${toy.server.url}/graphql`, fetchFn: fetch });
	});
	after(() => toy.server.close());

	test("pass, except those that CSRF prevention fails", async () => {
		assert.equal(audits.length, AUDITS);
		const lacking: Record<string, string> = {};
		for (const audit of audits) {
			const { status, id, name } = await audit.fn();
			if (status === "ok") continue;
			assert.equal(status, "notice", `${id} ${name}`);
			lacking[id] = name;
		}
		assert.deepEqual(lacking, COST_OF_CSRF_PREVENTION);
	});

	test("pass for CSRF prevention too, with a header that other origins cannot send", async () => {
		const marked = serverAudits({
			url: `${toy.server.url}/graphql`,
			fetchFn: (url: string, init: RequestInit = {}) =>
				fetch(url, {
					...init,
					headers: {
						...Object.fromEntries(new Headers(init.headers)),
						"apollo-require-preflight": "1",
					},
				}),
		}).filter(({ id }) => Object.hasOwn(COST_OF_CSRF_PREVENTION, id));
		assert.equal(marked.length, 3);
		for (const audit of marked) {
			assert.equal((await audit.fn()).status, "ok", audit.name);
		}
	});
});
