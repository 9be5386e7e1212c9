import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, test } from "node:test";
import {
	GraphqlRequest,
	type RequestState,
} from "../../../src/server/graphql/request.ts";

function newRequest(): GraphqlRequest {
	const message = { method: "POST", url: "/graphql" } as IncomingMessage;
	const found = { id: "1", mediaType: null, encoding: null };
	return new GraphqlRequest(message, {} as ServerResponse, found);
}

describe("a request", () => {
	const WAYS: readonly (readonly RequestState[])[] = [
		["done"],
		["looked", "done"],
		["looked", "running", "done"],
		["looked", "waited", "done"],
		["looked", "waited", "running", "done"],
	];
	for (const way of WAYS) {
		test(`is new, then ${way.join(", then ")}`, () => {
			const request = newRequest();
			for (const state of way) {
				request.enter(state);
				assert.equal(request.state, state);
			}
		});
	}

	const WRONG: readonly (readonly RequestState[])[] = [
		["waited"],
		["running"],
		["looked", "looked"],
		["looked", "waited", "waited"],
		["looked", "running", "waited"],
		["looked", "running", "running"],
		["done", "done"],
	];
	for (const way of WRONG) {
		test(`is never ${way.join(", then ")}`, () => {
			const request = newRequest();
			for (const state of way.slice(0, -1)) request.enter(state);
			const before = request.state;
			const last = way.at(-1) as RequestState;
			assert.throws(() => request.enter(last), /cannot be/);
			assert.equal(request.state, before);
		});
	}
});
