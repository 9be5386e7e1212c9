import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkSettings } from "../../../../src/storage/mysql/driver/session.ts";

function check(version: string): string {
	try {
		return checkSettings("db1:3306", { version, increment: "1", flush: "1" });
	} catch (thrown) {
		assert.ok(thrown instanceof Error);
		return thrown.message;
	}
}

describe("a MySQL or MariaDB server's version", () => {
	test("is accepted from MySQL 8.0.19 and MariaDB 10.11 on", () => {
		assert.deepEqual(
			[
				"8.0.19",
				"8.4.2-log",
				"9.7.4-2",
				"10.0.1",
				"10.11.18-MariaDB-0+deb12u1",
				"11.8.2-MariaDB-1",
				"12.0.0-MariaDB",
			].map(check),
			["MySQL", "MySQL", "MySQL", "MySQL", "MariaDB", "MariaDB", "MariaDB"],
		);
	});

	test("is rejected if older or unknown, with the required and the actual version", () => {
		assert.deepEqual(
			["5.7.44", "8.0.18", "10.6.20-MariaDB", "5.5.68-MariaDB", ""].map(check),
			[
				"MySQL 8.0.19 or MariaDB 10.11, or later, is required, got MySQL 5.7.44",
				"MySQL 8.0.19 or MariaDB 10.11, or later, is required, got MySQL 8.0.18",
				"MySQL 8.0.19 or MariaDB 10.11, or later, is required, got MariaDB 10.6.20-MariaDB",
				"MySQL 8.0.19 or MariaDB 10.11, or later, is required, got MariaDB 5.5.68-MariaDB",
				"MySQL 8.0.19 or MariaDB 10.11, or later, is required, got MySQL ",
			],
		);
	});
});
