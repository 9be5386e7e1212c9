import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { addressOf } from "../../src/storage/mysql/serverAddress.ts";
import {
	hostOptionFault,
	parseHostUrl,
	redactHostUrl,
} from "../../src/topology/hostUrl.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

/** The sign before a variable in braces. */
const D = "$";

describe("host URL", () => {
	test("a MySQL URL is parsed into host, port, user and password", () => {
		assert.deepEqual(parseHostUrl("mysql://me:secret@db1:3307"), {
			scheme: "mysql",
			host: "db1",
			port: 3307,
			user: "me",
			password: "secret",
			name: "db1:3307",
			tls: null,
			isLossless: false,
		});
	});

	test("a MySQL URL has default port 3306, and a percent-encoded password is decoded", () => {
		assert.deepEqual(parseHostUrl("mysql://me:a%40b%2F%3A%25@[::1]/"), {
			scheme: "mysql",
			host: "::1",
			port: 3306,
			user: "me",
			password: "a@b/:%",
			name: "[::1]:3306",
			tls: null,
			isLossless: false,
		});
	});

	test("a MySQL URL selects TLS checks with ssl-mode and ssl-ca", () => {
		const tlsOf = (options: string) => {
			const url = parseHostUrl(`mysql://me@db1${options}`);
			return url?.scheme === "mysql" ? url.tls : undefined;
		};
		assert.equal(tlsOf("?ssl-mode=DISABLED"), null);
		assert.deepEqual(tlsOf("?ssl-mode=REQUIRED"), {
			mode: "REQUIRED",
			ca: null,
		});
		assert.deepEqual(tlsOf("/?ssl-mode=VERIFY_CA&ssl-ca=/etc/ca%20s.pem"), {
			mode: "VERIFY_CA",
			ca: "/etc/ca s.pem",
		});
		assert.deepEqual(tlsOf("?ssl-mode=VERIFY_IDENTITY"), {
			mode: "VERIFY_IDENTITY",
			ca: null,
		});
	});

	test("a MySQL URL says with failover=lossless that a failover loses nothing, and in no other words", () => {
		const isLossless = (options: string) => {
			const url = parseHostUrl(`mysql://me@db1${options}`);
			return url?.scheme === "mysql" ? url.isLossless : undefined;
		};
		assert.equal(isLossless(""), false);
		assert.equal(isLossless("?failover=lossless"), true);
		assert.equal(isLossless("?ssl-mode=REQUIRED&failover=lossless"), true);
		for (const wrong of ["", "=", "=lossy", "=lossless&failover=lossless"]) {
			assert.equal(isLossless(`?failover${wrong}`), undefined);
		}
	});

	test("user and password may be in environment variables, and the password in a file", () => {
		const ofUrl = (text: string) => {
			const url = parseHostUrl(text);
			return url?.scheme === "mysql" && [url.user, url.password];
		};
		assert.deepEqual(ofUrl(`mysql://app:${D}{DB_PASSWORD}@db1`), [
			"app",
			{ parts: [{ variable: "DB_PASSWORD" }] },
		]);
		assert.deepEqual(ofUrl(`mysql://${D}{USER}_1:a%40${D}{x1}b@db1`), [
			{ parts: [{ variable: "USER" }, "_1"] },
			{ parts: ["a@", { variable: "x1" }, "b"] },
		]);
		assert.deepEqual(
			ofUrl("mysql://app@db1?ssl-mode=REQUIRED&password-file=/run/secrets/db"),
			["app", { file: "/run/secrets/db" }],
		);
		// A password that looks so is percent-encoded.
		assert.deepEqual(ofUrl("mysql://app:%24%7BX%7D@db1"), ["app", `${D}{X}`]);
	});

	test("the folder of a sqlite URL is not decoded or changed", () => {
		assert.deepEqual(parseHostUrl("sqlite:/some where/data"), {
			scheme: "sqlite",
			folder: "/some where/data",
		});
	});

	test("parses to null if it is incomplete or malformed", () => {
		for (const url of [
			"",
			"data",
			"sqlite:",
			"sqlite:data?mode=ro",
			"mysql:",
			"mysql://",
			"mysql://:secret@db1",
			"mysql://me:%E0%A4%A@db1",
			"mysql://me@db1:0x10",
			"mysql://me@db1/database",
			"mysql://me@db1?database=x",
			"mysql://me@db1?ssl-mode=on",
			"mysql://me@db1?ssl-mode=REQUIRED&ssl-mode=DISABLED",
			"mysql://me@db1?ssl-mode=REQUIRED&ssl-ca=never-looked-at.pem",
			"mysql://me@db1?ssl-mode=VERIFY_CA&ssl-ca=",
			"mysql://me@db1?ssl-ca=ca.pem",
			"mysql://me@db1?ssl-mode=VERIFY_CA&ssl-cert=client.pem",
			`mysql://me:${D}{@db1`,
			`mysql://me:${D}{A-B}@db1`,
			`mysql://me:${D}{}@db1`,
			`mysql://me@${D}{HOST}`,
			"mysql://me@db1?password-file=",
			"mysql://me:secret@db1?password-file=a",
			"mysql://me@db1?password-file=a&password-file=b",
			"redis://me@db1",
		]) {
			assert.equal(parseHostUrl(url), null, url);
		}
	});

	test("says which option does not exist, and which do, without a value", () => {
		const mysql = "its options are ssl-mode, ssl-ca, password-file, failover";
		assert.equal(
			hostOptionFault("mysql://me:secret@db1?tls-ca=/x"),
			`it has "tls-ca", which does not exist: ${mysql}`,
		);
		assert.equal(
			hostOptionFault("mysql://me:1?secret@db1"),
			`it has an option, which does not exist: ${mysql}`,
		);
		assert.equal(
			hostOptionFault("sqlite:data?mode=ro"),
			'it has "mode", which does not exist: it takes no options',
		);
		assert.equal(hostOptionFault("mysql://me:secret@db1?ssl-mode=on"), null);
	});

	test("is redacted to its host, without user and password", () => {
		assert.equal(redactHostUrl("mysql://me:secret@db1"), "mysql://db1:3306");
		assert.equal(
			redactHostUrl("mysql://me:secret@db1?ssl-mode=REQUIRED"),
			"mysql://db1:3306",
		);
		assert.equal(redactHostUrl("sqlite:data"), "sqlite:data");
		assert.equal(redactHostUrl("mysql://me:secret@db1/x"), "an unknown host");
	});

	test("a MySQL URL without a user takes user and password from the file that the environment names", () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "account.json");
		const environment = { CORKBOARD_MYSQL_FILE: file };
		const address = () => addressOf("mysql://db001a:3307", environment);
		const refused = (message: RegExp) =>
			assert.throws(address, { code: "BAD_TOPOLOGY", message });
		refused(/CORKBOARD_MYSQL_FILE, for db001a:3307, cannot be read/);
		writeFileSync(file, "secret");
		refused(/^CORKBOARD_MYSQL_FILE, for db001a:3307, is not JSON\.$/);
		writeFileSync(file, '{"user": "app"}');
		refused(/has no password/);
		writeFileSync(file, '{"user": "app", "password": "secret"}');
		const { user, password, name } = address();
		assert.deepEqual(
			[user, password(), name],
			["app", "secret", "db001a:3307"],
		);
		// Replaced while the process runs.
		writeFileSync(file, '{"user": "app", "password": "newer"}');
		assert.equal(password(), "newer");
		assert.throws(() => addressOf("mysql://db001a:3307", {}), {
			code: "BAD_TOPOLOGY",
			message: /names no user, so CORKBOARD_MYSQL_FILE must name a file/,
		});
		assert.equal(parseHostUrl("mysql://:secret@db001a"), null);
		assert.equal(parseHostUrl("mysql://db001a?password-file=/p"), null);
	});
});
