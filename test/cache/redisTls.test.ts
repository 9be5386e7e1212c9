import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { RedisConnections } from "../../src/cache/redis/redisConnections.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { type ReservedPort, reservePort } from "../services/port.ts";
import { startRedis } from "../services/redis.ts";
import type { Server } from "../services/server.ts";

describe("a Redis with TLS whose certificate a private CA signed", () => {
	const temporary = temporaryFolder();
	const folder = temporary.path;
	let server: Server;
	let reserved: ReservedPort;

	before(async () => {
		await makeCertificates(folder);
		reserved = await reservePort();
		server = await startRedis({
			args: [
				...["--tls-port", String(reserved.port), "--tls-auth-clients", "no"],
				...["--tls-cert-file", join(folder, "server.pem")],
				...["--tls-key-file", join(folder, "server.key")],
				...["--tls-ca-cert-file", join(folder, "ca.pem")],
			],
		});
	});
	after(async () => {
		await server?.stop();
		await reserved?.[Symbol.asyncDispose]();
		temporary[Symbol.dispose]();
	});

	/** Whether it answers; else why not. */
	async function answers(options: string): Promise<string> {
		const redis = new RedisConnections(
			`rediss://127.0.0.1:${reserved.port}${options}`,
		);
		const { promise, resolve } = Promise.withResolvers<string>();
		const connection = redis.forSubscription((error) => resolve(String(error)));
		connection.runId.then(
			() => resolve("answers"),
			() => {},
		);
		try {
			return await promise;
		} finally {
			connection.close();
		}
	}

	it("is trusted with the CA file of the URL, and not without it", async () => {
		const ca = encodeURIComponent(join(folder, "ca.pem"));
		assert.equal(await answers(`?ssl-ca=${ca}`), "answers");
		assert.match(await answers(""), /self-signed|unable to verify/);
	});

	it("is not connected to with a CA file that cannot be read", () => {
		assert.throws(
			() => new RedisConnections(`rediss://a?ssl-ca=${folder}/none.pem`),
			{ code: "BAD_CONFIG", message: /^The ssl-ca of Redis a:6379 must be/ },
		);
	});
});

describe("a Redis whose password is in a file", () => {
	it("is answered with the file's password of that moment, and names no secret where the file is missing", async () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "password");
		await writeFile(file, "wrong\n");
		await using server = await startRedis();
		const url = `${server.url}?password-file=${encodeURIComponent(file)}`;
		await setPassword(server.url, "right");
		const redis = new RedisConnections(url);
		const answers = () => {
			const connection = redis.forSubscription(() => {});
			return connection.runId.finally(() => connection.close());
		};
		await assert.rejects(answers());
		await writeFile(file, "right\n");
		await answers();
		await rm(file);
		await answers();
		assert.throws(() => new RedisConnections(url), {
			code: "BAD_CONFIG",
			message: /^The password-file of Redis 127.0.0.1:[0-9]+ cannot be read/,
		});
	});
});

async function setPassword(url: string, password: string): Promise<void> {
	const client = new Redis(url);
	await client.config("SET", "requirepass", password);
	client.disconnect();
}

async function makeCertificates(folder: string): Promise<void> {
	const openssl = (...args: readonly string[]) =>
		promisify(execFile)("openssl", args, { cwd: folder });
	const keyed = (name: string) => [
		...["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"],
		...["-nodes", "-keyout", `${name}.key`, "-out", `${name}.pem`],
	];
	await openssl(
		...["req", "-x509", "-days", "2", "-subj", "/CN=private CA"],
		...keyed("ca"),
	);
	await openssl(
		...["req", "-x509", "-days", "2", "-subj", "/CN=cache"],
		...["-CA", "ca.pem", "-CAkey", "ca.key"],
		...["-addext", "subjectAltName=IP:127.0.0.1"],
		...["-addext", "basicConstraints=CA:FALSE"],
		...keyed("server"),
	);
}
