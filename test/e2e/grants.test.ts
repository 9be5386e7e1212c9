import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import pinsApp from "../../pins/app.ts";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { startCorkboardServer } from "../../src/app/startCorkboardServer.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/server/log.ts";
import {
	carryOutAll,
	newcomer,
	pageQuery,
	type Shown,
} from "../clients/everyMutation.ts";
import { plainly } from "../clients/lists.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import { command } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { startMariadb } from "../services/mariadb.ts";
import { startMysql } from "../services/mysql.ts";

const SECRET = "it's a {secret}/of\\the: database%41";
const NEXT_SECRET = "another that replaced it";

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const mysql = stack.use(await startMysql());
const folder = stack.use(temporaryFolder());
const topologyFile = join(folder.path, "topology.json");
const passwordFile = join(folder.path, "password");
writeFileSync(passwordFile, `${SECRET}\n`);
process.env.A_DATABASE_PASSWORD = SECRET;
/** Half of the shards take the password from the environment, half from the file. */
const first = `mysql://least:${"$"}{A_DATABASE_PASSWORD}@${mysql.address}`;
const second = `mysql://least@${mysql.address}?password-file=${passwordFile}`;
writeFileSync(
	topologyFile,
	JSON.stringify({
		version: 1,
		shards: [
			{ range: [0, 1], primary: first, open: true },
			{ range: [2, 3], primary: second, open: true },
		],
		lookups: [
			{ range: [0, 0], primary: first },
			{ range: [1, 1], primary: second },
		],
		queues: [{ range: [0, 0], primary: first }],
		pools: [{ range: [0, 0], primary: first }],
	}),
);

const ENV = {
	PORT: "0",
	HOST: "127.0.0.1",
	CORKBOARD_TOPOLOGY: topologyFile,
	CORKBOARD_SECRET: "of the tests of grants 32 bytes or more",
	CORKBOARD_MODE: "development",
	CORKBOARD_GRAPHIQL: "off",
};

/** All that was printed or logged. */
let printed = "";

async function corkboard(...args: readonly string[]) {
	const ran = await command(args, { env: ENV, open: openCorkboard });
	printed += ran.out + ran.err;
	return ran;
}

/** The few objects that the walk through the API needs from others. */
const LINES = [
	...["marigold_01", "basil_02"].map((username) => ({
		type: "User",
		key: username,
		fields: { username, name: "Somebody" },
	})),
	{ type: "Interest", key: "i", fields: { slug: "gardens", name: "Gardens" } },
	{ type: "Board", key: "b", fields: { owner: "marigold_01", name: "Long" } },
	...Array.from({ length: 25 }, (_, n) => ({
		type: "Pin",
		key: `p${n}`,
		fields: { board: "b", details: `Pin ${n}` },
	})),
];

describe("a MySQL user with the privileges that grants prints", () => {
	test("creates all tables, and may do nothing else", async () => {
		await ask(mysql, `CREATE USER least@'%' IDENTIFIED BY ${sql(SECRET)}`);
		const grants = await corkboard("grants", "show", "--user", "least");
		assert.equal(grants.code, 0, grants.err);
		const statements = statementsIn(grants.out);
		assert.equal(statements.length, 13);
		await ask(mysql, ...statements);
		assert.deepEqual(
			(await ask(mysql, "SHOW GRANTS FOR least@'%'"))
				.flatMap((row) => Object.values(row))
				.map((text) => String(text).replaceAll("`least`@`%`", "least"))
				.toSorted(),
			[
				"GRANT REPLICATION CLIENT ON *.* TO least",
				"GRANT SELECT ON `performance_schema`.`metadata_locks` TO least",
				"GRANT SELECT ON `performance_schema`.`setup_instruments` TO least",
				"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `corkboard`.* TO least",
				"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `db_____`.* TO least",
				"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `feed_____`.* TO least",
				"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `mod_____`.* TO least",
				"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `pool_____`.* TO least",
				"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, LOCK TABLES ON `queue_____`.* TO least",
			],
		);

		const init = await corkboard("init");
		assert.equal(init.code, 0, init.err);
		const repeated = await corkboard("init");
		assert.equal(repeated.code, 0, repeated.err);
		// That nobody delivers an entry is a problem.
		await ask(mysql, "DELETE FROM corkboard.outbox");
		const status = await corkboard("status");
		assert.equal(status.code, 0, status.out);
		const check = await corkboard("serve", "--check");
		assert.equal(check.code, 0, check.err);
	});

	test("carries out every mutation and the commands", async () => {
		const lines = join(folder.path, "lines.ndjson");
		writeFileSync(lines, LINES.map((line) => JSON.stringify(line)).join("\n"));
		const imported = await corkboard("import", lines);
		assert.equal(imported.code, 0, imported.err);
		{
			await using opened = await openCorkboard(
				pinsApp,
				readConfig(ENV),
				"readWrite",
			);
			const log = createLog({
				level: "trace",
				format: "json",
				destination: {
					write(line) {
						printed += line;
					},
				},
			});
			await using server = await startCorkboardServer(opened, { log });
			await walkThroughTheApi(server.url);
		}
		for (const args of [
			["verify"],
			["objects", "list", "interests"],
			["tokens", "create", "basil_02"],
			["accounts", "close", "basil_02"],
			["map", "check"],
			["queues", "list"],
			["queues", "create", "more"],
			["queues", "delete", "more", "--confirm", "more"],
		]) {
			const { code, err } = await corkboard(...args);
			assert.equal(code, 0, `${args}: ${err}`);
		}
	});

	test("may have a new password in its file without a restart", async () => {
		await using opened = await openCorkboard(
			pinsApp,
			readConfig(ENV),
			"readOnly",
		);
		await ask(
			mysql,
			`ALTER USER least@'%' IDENTIFIED BY ${sql(NEXT_SECRET)} RETAIN CURRENT PASSWORD`,
		);
		writeFileSync(passwordFile, NEXT_SECRET);
		await ask(mysql, "ALTER USER least@'%' DISCARD OLD PASSWORD");
		const reports = await opened.admin.inspectHosts();
		const [byVariable, byFile] = reports.map(({ error }) => error);
		assert.match(byVariable ?? "", /Access denied for user 'least'/);
		assert.equal(byFile, null);
		printed += JSON.stringify(reports);
	});

	test("leaves its password in no log, message or copy", async () => {
		const { code, err } = await corkboard("status");
		assert.equal(code, 1, err);
		const other = join(folder.path, "other.json");
		writeFileSync(
			other,
			readFileSync(topologyFile, "utf8").replaceAll("A_DATABASE_", "NO_SUCH_"),
		);
		const refused = await command(["status"], {
			env: { ...ENV, CORKBOARD_TOPOLOGY: other },
		});
		assert.equal(refused.code, 1);
		assert.match(
			refused.err,
			/environment variable NO_SUCH_PASSWORD, which is not set/,
		);
		const kept = readFileSync(`${topologyFile}.kept`, "utf8");
		assert.match(kept, /\$\{A_DATABASE_PASSWORD\}/);
		assert.match(kept, /password-file=/);
		assert.ok(printed.length > 1_000);
		for (const secret of [SECRET, NEXT_SECRET]) {
			for (const text of [printed, kept]) {
				for (const form of [secret, encodeURIComponent(secret)]) {
					assert.ok(!text.includes(form));
					assert.ok(!text.includes(JSON.stringify(form).slice(1, -1)));
				}
			}
		}
	});
});

describe("a MariaDB user with the privileges that grants prints for it", () => {
	test("creates all tables, carries out every mutation, and sees how far a replica is behind", async () => {
		await using mariadb = await startMariadb();
		using folder = temporaryFolder();
		const file = join(folder.path, "topology.json");
		const primary = `mysql://least:enough@${mariadb.address}`;
		const ranges = [{ range: [0, 1], primary }];
		const shards = [{ range: [0, 1], primary, open: true }];
		const one = [{ range: [0, 0], primary }];
		const others = { queues: one, pools: one };
		writeFileSync(
			file,
			JSON.stringify({
				version: 1,
				shards,
				lookups: ranges,
				...others,
			}),
		);
		const env = { ...ENV, CORKBOARD_TOPOLOGY: file };
		const run = async (...args: readonly string[]) => {
			const ran = await command(args, { env, open: openCorkboard });
			assert.equal(ran.code, 0, `${args}: ${ran.out}${ran.err}`);
			return ran.out;
		};
		const grants = await run(
			"grants",
			"show",
			"--user",
			"least",
			"--product",
			"mariadb",
		);
		await ask(
			mariadb,
			"CREATE USER least@'%' IDENTIFIED BY 'enough'",
			...statementsIn(grants),
		);
		assert.deepEqual(
			(await ask(mariadb, "SHOW GRANTS FOR least@'%'"))
				.flatMap((row) => Object.values(row))
				.map((text) =>
					String(text)
						.replaceAll("`least`@`%`", "least")
						.replace(/ IDENTIFIED BY .*/, ""),
				)
				.toSorted(),
			[
				"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `corkboard`.* TO least",
				"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `db_____`.* TO least",
				"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `feed_____`.* TO least",
				"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `mod_____`.* TO least",
				"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `pool_____`.* TO least",
				"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, LOCK TABLES ON `queue_____`.* TO least",
				// Its older name of REPLICA MONITOR.
				"GRANT SLAVE MONITOR ON *.* TO least",
			],
		);
		await run("init");
		await run("status");
		await run("serve", "--check");
		const lines = join(folder.path, "lines.ndjson");
		writeFileSync(lines, LINES.map((line) => JSON.stringify(line)).join("\n"));
		await run("import", lines);
		{
			await using opened = await openCorkboard(
				pinsApp,
				readConfig(env),
				"readWrite",
			);
			const log = createLog({
				level: "error",
				format: "json",
				destination: { write() {} },
			});
			await using server = await startCorkboardServer(opened, { log });
			await walkThroughTheApi(server.url);
		}
		await run("verify");
		// `status` asks a host that is named as a replica for its replication.
		writeFileSync(
			file,
			JSON.stringify({
				version: 2,
				shards,
				lookups: [
					{ ...ranges[0], replica: primary.replace("127.0.0.1", "localhost") },
				],
				...others,
			}),
		);
		const { out } = await command(["status", "--json"], { env });
		const { hosts } = JSON.parse(out);
		assert.deepEqual(hosts[1].replication, {
			running: false,
			lagSeconds: null,
			error: "it has no source",
		});
	});
});

test("grants prints a name of any characters on one line", async () => {
	const { out } = await corkboard(
		"grants",
		"show",
		"--user",
		"a'b\\c\nDROP\r\0",
	);
	assert.equal(out.trimEnd().split("\n").length, 20);
	assert.ok(out.includes("TO 'a''b\\\\c\\nDROP\\r\\0'@'%';"), out);
});

function statementsIn(grants: string): readonly string[] {
	return grants
		.split("\n")
		.filter((line) => line.startsWith("GRANT "))
		.map((line) => line.replace(/;$/, ""));
}

/** Every mutation, each held to what the page shows after it. */
async function walkThroughTheApi(origin: string): Promise<void> {
	const url = `${origin}/graphql`;
	const { token, variables } = await newcomer(
		url,
		"somebody",
		async (input) => {
			const { createUser } = await plainly(url).data<{
				createUser: { token: string };
			}>(
				"mutation ($input: CreateUserInput!) { createUser(input: $input) { token } }",
				{ input },
			);
			return createUser.token;
		},
	);
	const viewer = plainly(url, token);
	const query = pageQuery(
		"Page",
		(field, node) => `${field} { edges { node { ${node} } } }`,
	);
	let shown = await viewer.data<Shown>(query, variables);
	await carryOutAll(
		{
			shown: () => shown,
			async mutate(name, input) {
				const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
				const done = await viewer.data(
					`mutation ($input: ${type}!) { ${name}(input: $input) { __typename } }`,
					{ input },
				);
				shown = await viewer.data<Shown>(query, variables);
				return done;
			},
		},
		variables,
	);
	await viewer.data(
		"mutation ($input: DeactivateUserInput!) { deactivateUser(input: $input) { __typename } }",
		{ input: { userId: shown.viewer.id } },
	);
}

function sql(text: string): string {
	return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
