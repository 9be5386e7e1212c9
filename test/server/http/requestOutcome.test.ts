// Runs in a process of its own: it looks at all requests of the process, and a server of another file may still end one.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { CorkboardError } from "../../../src/errors.ts";
import {
	type RequestCompleted,
	SERVER_CHANNELS,
} from "../../../src/server/diagnostics.ts";
import { publishedDuring } from "../../helpers/publishedDuring.ts";
import { ADA, startToy, tokens } from "../../helpers/toyServer.ts";

suite("a request whose sender is refused", () => {
	async function outcomeOf(
		authorization: string,
		isUser: () => Promise<boolean>,
	) {
		const completed = await publishedDuring<RequestCompleted>(
			SERVER_CHANNELS.request,
			async () => {
				await using toy = await startToy({ isUser });
				await toy.post({ query: "{ hello }" }, { authorization });
			},
		);
		return completed.map(({ status, codes }) => ({ status, codes }));
	}

	test("has the code of its response in metrics and log, also where authentication itself fails", async () => {
		assert.deepEqual(await outcomeOf("Bearer none", async () => true), [
			{ status: 401, codes: ["UNAUTHENTICATED"] },
		]);
		const valid = `Bearer ${await tokens.sign(ADA)}`;
		assert.deepEqual(await outcomeOf(valid, async () => false), [
			{ status: 401, codes: ["UNAUTHENTICATED"] },
		]);
		const away = async () => {
			throw new CorkboardError("UNAVAILABLE", "Shard 0 is away.");
		};
		assert.deepEqual(await outcomeOf(valid, away), [
			{ status: 503, codes: ["UNAVAILABLE"] },
		]);
		const bug = async () => {
			throw new Error("a bug");
		};
		assert.deepEqual(await outcomeOf(valid, bug), [
			{ status: 500, codes: ["INTERNAL"] },
		]);
	});
});
