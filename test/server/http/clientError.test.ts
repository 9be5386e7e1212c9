import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ApolloServerErrorCode } from "@apollo/server/errors";
import { GraphQLError } from "graphql";
import { CorkboardError, ERRORS, isClientCode } from "../../../src/errors.ts";
import { requestError } from "../../../src/server/http/clientError.ts";

suite("the table of error codes", () => {
	test("has every code that Apollo Server sends, for clients", () => {
		// Ours is INTERNAL; persisted queries are always supported.
		const unused = ["INTERNAL_SERVER_ERROR", "PERSISTED_QUERY_NOT_SUPPORTED"];
		for (const code of Object.values(ApolloServerErrorCode)) {
			assert.equal(isClientCode(code), !unused.includes(code), code);
		}
	});

	test("gives each code a sentence and an HTTP status", () => {
		for (const [code, { message, status }] of Object.entries(ERRORS)) {
			assert.match(message, /^[A-Z].*\.$/, code);
			assert.ok(status >= 400 && status < 600, code);
		}
	});
});

suite("a request error", () => {
	const statusOf = (thrown: unknown) =>
		(requestError(thrown).extensions.http as { status: number }).status;

	test("has the HTTP status of its code", () => {
		for (const code of ["BAD_REQUEST", "FORBIDDEN", "UNAVAILABLE"] as const) {
			assert.equal(statusOf(new CorkboardError(code)), ERRORS[code].status);
			const error = new GraphQLError("", { extensions: { code } });
			assert.equal(statusOf(error), ERRORS[code].status);
		}
	});

	test("is 500 for a code that is not for clients, and for any other error", () => {
		assert.equal(statusOf(new CorkboardError("BAD_CONFIG")), 500);
		assert.equal(statusOf(new Error("secret")), 500);
		assert.equal(statusOf("secret"), 500);
		assert.equal(statusOf(Object.create(null)), 500);
		assert.equal(statusOf(Symbol("secret")), 500);
	});
});
