import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { gzipSync } from "node:zlib";
import { startToy, type Toy } from "../../helpers/toyServer.ts";

suite("a request body", () => {
	let toy: Toy;
	before(async () => {
		toy = await startToy();
	});
	after(() => toy.server.close());

	function send(body: Uint8Array | string, headers: Record<string, string>) {
		return fetch(`${toy.server.url}/graphql`, {
			method: "POST",
			headers: { "content-type": "application/json", ...headers },
			body: body as BodyInit,
		});
	}

	async function refused(
		response: Response,
		status: number,
		message: string,
	): Promise<void> {
		assert.equal(response.status, status);
		assert.match(
			response.headers.get("content-type") ?? "",
			/^application\/json/,
		);
		assert.deepEqual(await response.json(), {
			errors: [{ message, extensions: { code: "BAD_REQUEST" } }],
		});
	}

	const asked = (name: string) =>
		JSON.stringify({ query: `{ hello(name: "${name}") }` });

	test("is accepted in UTF-8, with or without a charset", async () => {
		for (const charset of ["", "; charset=utf-8", '; charset="UTF8"']) {
			const response = await send(asked("Žižek 🙂"), {
				"content-type": `application/json${charset}`,
			});
			assert.deepEqual(await response.json(), {
				data: { hello: "Hello Žižek 🙂" },
			});
		}
	});

	test("is 415 in another charset", async () => {
		for (const charset of ["latin1", "utf-16", "utf-7", "x".repeat(5_000)]) {
			const response = await send(asked("Ada"), {
				"content-type": `application/json; charset=${charset}`,
			});
			await refused(response, 415, "The body must be in UTF-8.");
		}
	});

	test("is 400 with bytes that are not UTF-8", async () => {
		const latin = Buffer.from(asked("Café"), "latin1");
		const response = await send(latin, {});
		await refused(response, 400, "The body is not valid UTF-8.");
	});

	test("is 415 if compressed, with the accepted encodings", async () => {
		for (const encoding of ["gzip", "br", "deflate", "identity, gzip", "own"]) {
			const response = await send(gzipSync(asked("Ada")), {
				"content-encoding": encoding,
			});
			assert.equal(response.headers.get("accept-encoding"), "identity");
			await refused(response, 415, "The body must not be compressed.");
		}
		const plain = await send(asked("Ada"), { "content-encoding": "identity" });
		assert.equal(plain.status, 200);
	});

	const POISON =
		"The body must not have a key __proto__, or a key prototype below constructor.";

	test("is 400 with a key that would change a prototype, however it is spelled", async () => {
		for (const variables of [
			'{"__proto__": {}}',
			'{"a": [{"\\u005f_proto__": 1}]}',
			'{"constructor": {"prototype": 1}}',
			'{"c\\u006fnstructor": {"prototype": 1}}',
		]) {
			const body = `{"query": "{ hello }", "variables": ${variables}}`;
			await refused(await send(body, {}), 400, POISON);
		}
		for (const variables of [
			'{"constructor": 1}',
			'{"a": "__proto__ \\u005f"}',
			'{"prototype": {"constructor": {}}}',
		]) {
			const body = `{"query": "{ hello }", "variables": ${variables}}`;
			assert.equal((await send(body, {})).status, 200, variables);
		}
	});

	test("is 415 without a media type", async () => {
		const response = await fetch(`${toy.server.url}/graphql`, {
			method: "POST",
			body: new Blob([asked("Ada")]),
		});
		await refused(response, 415, "The body must be of type application/json.");
	});
});
