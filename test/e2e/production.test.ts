import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { client } from "../helpers/client.ts";
import { serve } from "../helpers/program.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

describe("a server of a topology", () => {
	it("runs in production mode on all its hosts, and every command finds what it stored", async () => {
		using folder = temporaryFolder();
		const host = (name: string) => `sqlite:${join(folder.path, name)}`;
		const map = join(folder.path, "topology.json");
		writeFileSync(
			map,
			JSON.stringify({
				version: 1,
				shards: [
					{ range: [0, 3], primary: host("one"), open: true },
					{ range: [4, 7], primary: host("two"), open: true },
				],
				lookups: [{ range: [0, 3], primary: host("names") }],
			}),
		);
		const env = {
			CORKBOARD_TOPOLOGY: map,
			CORKBOARD_SECRET: "of the production tests 32 bytes or more",
		};
		const unsigned = await runHere(["serve"], {
			env: { CORKBOARD_TOPOLOGY: map },
		});
		assert.equal(unsigned.code, 1);
		assert.match(
			unsigned.err,
			/^corkboard: CORKBOARD_SECRET is missing\. With a topology /,
		);

		await using server = await serve({
			...env,
			// Empty is not given: as a fleet has them.
			CORKBOARD_DEMO: "",
			CORKBOARD_GRAPHIQL: "",
			HOST: "127.0.0.1",
		});
		const visitor = client(server.url);
		// The log is JSON, and nothing else is printed.
		for (const line of server.out().trimEnd().split("\n")) {
			assert.equal(typeof JSON.parse(line).msg, "string");
		}
		const page = await fetch(`${server.url}/graphql`, {
			headers: { accept: "text/html" },
		});
		assert.doesNotMatch(await page.text(), /GraphiQL/);
		assert.match(
			await visitor.code("{ __schema { queryType { name } } }"),
			/^GRAPHQL_VALIDATION_FAILED$/,
		);
		const { errors } = await visitor.post("{ vewer { id } }");
		assert.doesNotMatch(errors?.[0]?.message ?? "", /Did you mean/);

		const shards = new Set<number>();
		for (let n = 0; n < 24; n++) {
			const { createUser } = await visitor.data<{
				createUser: { user: { id: string } };
			}>(
				`mutation { createUser(input: {username: "member_${n}"}) { user { id } } }`,
			);
			shards.add(Number(BigInt(createUser.user.id) >> 46n));
		}
		assert.ok([...shards].some((shard) => shard < 4));
		assert.ok([...shards].some((shard) => shard >= 4));
		assert.equal((await server.stop()).code, 0);

		const verified = await runHere(["verify"], { env });
		assert.equal(verified.code, 0, verified.out);
		// The edges are those by the prefixes of the names.
		assert.match(
			verified.out,
			/^24 objects, 206 edges, 31 lists, 2[45] lookups/,
		);
		const token = await runHere(["tokens", "create", "member_7"], { env });
		assert.equal(token.code, 0, token.err);
	});
});
