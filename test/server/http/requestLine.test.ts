import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
	logOfRequests,
	REQUEST_COMPLETED,
	type RequestFields,
} from "../../../src/server/http/requestLine.ts";
import { createLog } from "../../../src/server/log.ts";

suite("the log of requests", () => {
	const fields: RequestFields = {
		reqId: "0b5f:/+=-.9",
		method: "POST",
		route: "/graphql",
		status: 200,
		ms: 12,
	};
	const cases: readonly RequestFields[] = [
		fields,
		{ ...fields, operation: "Feed" },
		{ ...fields, operation: '"\\\n\u001b é' },
		{ ...fields, method: undefined, route: null, operation: "" },
		{ method: 'G"', route: '/"', status: 500, ms: 0 },
		{
			...fields,
			operation: "Feed",
			codes: ["NOT_FOUND", "INTERNAL"],
			errorIds: ["a", "b"],
			traceId: "0af7651916cd43dd8448eb211c80319c",
		},
	];

	for (const format of ["json", "text"] as const) {
		test(`as ${format} writes the lines of any log`, () => {
			const written: string[] = [];
			const log = createLog({
				level: "info",
				format,
				destination: { write: (line) => written.push(line) },
			});
			const withoutTime = () =>
				written
					.splice(0)
					.map((line) =>
						line.replace(/"time":\d{13}|^\d\d:\d\d:\d\d\.\d{3}/, "at"),
					);
			const requests = logOfRequests(log);
			for (const one of cases) {
				log.info(one, REQUEST_COMPLETED);
				const expected = withoutTime();
				assert.equal(expected.length, 1);
				requests.info(one, REQUEST_COMPLETED);
				assert.deepEqual(withoutTime(), expected);
			}
		});
	}

	test("has the level of the log it is of, also later", () => {
		const written: string[] = [];
		const log = createLog({
			level: "warn",
			format: "json",
			destination: { write: (line) => written.push(line) },
		});
		const requests = logOfRequests(log);
		requests.info(fields, REQUEST_COMPLETED);
		assert.equal(written.length, 0);
		log.level = "info";
		requests.info(fields, REQUEST_COMPLETED);
		assert.equal(written.length, 1);
	});
});
