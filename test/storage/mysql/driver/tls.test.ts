import assert from "node:assert/strict";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { mapShards } from "../../../../src/storage/mysql/shards.ts";
import { SharedHosts } from "../../../../src/storage/mysql/sharedHosts.ts";
import { deadlineIn } from "../../../../src/util/deadline.ts";
import { ask } from "../../../helpers/mysqlStorage.ts";
import { startMysql } from "../../../services/mysql.ts";

/** On first start the server creates certificates signed by a CA of its own. */
const server = await startMysql();
after(() => server.stop());
const [row] = await ask(server, "SELECT @@datadir AS folder");
const ca = join(String(row?.folder), "ca.pem");

const LIMITS = {
	connections: 1,
	maxWaiting: 1,
	connectMs: 5_000,
	readMs: 5_000,
	silenceMs: 8_000,
};

/** The cipher of a connection with these URL options; empty if it is not encrypted. */
async function cipherBy(options: string): Promise<string> {
	const range = { range: [0, 0] as const, primary: `${server.url}${options}` };
	const shards = [{ ...range, open: true }];
	const { hosts } = new SharedHosts(LIMITS, true, {}).lease((lease) =>
		mapShards({ version: 1, shards, lookups: [] }, lease),
	);
	const [host] = hosts;
	assert.ok(host);
	await using _host = host;
	const rows = await host.rows(
		{ name: "cipher", text: "SHOW STATUS LIKE 'Ssl_cipher'", values: [] },
		{ shard: 0, deadline: deadlineIn(10_000) },
	);
	return String(rows[0]?.[1]);
}

describe("a connection to MySQL", () => {
	test("is encrypted if its URL requires it", async () => {
		assert.equal(await cipherBy(""), "");
		assert.equal(await cipherBy("?ssl-mode=DISABLED"), "");
		assert.match(await cipherBy("?ssl-mode=REQUIRED"), /^TLS_/);
	});

	test("with VERIFY_CA accepts only certificates signed by the configured CA", async () => {
		const trusted = `?ssl-mode=VERIFY_CA&ssl-ca=${encodeURIComponent(ca)}`;
		assert.match(await cipherBy(trusted), /^TLS_/);
		await assert.rejects(cipherBy("?ssl-mode=VERIFY_CA"), /self-signed/);
	});

	test("with VERIFY_IDENTITY rejects a certificate issued for another host name", async () => {
		await assert.rejects(
			cipherBy(`?ssl-mode=VERIFY_IDENTITY&ssl-ca=${encodeURIComponent(ca)}`),
			/does not match certificate's altnames|is not in the cert's list/,
		);
	});

	test("fails if the file that ssl-ca names is missing", async () => {
		await assert.rejects(
			cipherBy("?ssl-mode=VERIFY_CA&ssl-ca=/nowhere/ca.pem"),
			/The ssl-ca of .* must be a file with certificates: ENOENT/,
		);
	});
});
