import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { CorkboardError } from "../../../errors.ts";
import { isDecodable } from "../../../util/isDecodable.ts";
import { openFileSource } from "./fileSource.ts";
import { mysqlDriver } from "./mysqlSource.ts";
import { postgresDriver } from "./postgresSource.ts";
import type { Source } from "./source.ts";
import { openSqlSource } from "./sqlSource.ts";

/** Opens the old database. Throws BAD_CONFIG for what is no such URL, or if it refuses. */
export async function openSource(
	given: string,
	/** What a path in `file:` is relative to. */
	folder: string,
): Promise<Source> {
	let url: URL;
	try {
		url = new URL(given);
	} catch {
		throw notOne();
	}
	const parts = [url.username, url.password, url.pathname];
	if (url.protocol !== "file:" && !parts.every(isDecodable)) {
		throw new CorkboardError(
			"BAD_CONFIG",
			"The URL of the source has a % that encodes nothing: write %25 for a percent sign.",
		);
	}
	const database = url.pathname.slice(1);
	switch (url.protocol) {
		case "file:":
			return openFileSource(
				given.startsWith("file://")
					? fileURLToPath(given)
					: resolve(folder, given.slice("file:".length)),
			);
		case "mysql:":
		case "mariadb:": {
			if (database === "") throw notOne();
			const mysql = given.replace(/^mariadb:/, "mysql:");
			return openSqlSource(
				mysqlDriver(mysql, decodeURIComponent(database)),
				shown(url),
			);
		}
		case "postgres:":
		case "postgresql:":
			if (database === "") throw notOne();
			return openSqlSource(
				postgresDriver(given, decodeURIComponent(database)),
				shown(url),
			);
		default:
			throw notOne();
	}
}

function shown({ protocol, host, pathname }: URL): string {
	return `${protocol}//${host}${pathname}`;
}

function notOne(): CorkboardError {
	return new CorkboardError(
		"BAD_CONFIG",
		"The source must be a URL like mysql://user:password@host:3306/database, postgres://user:password@host:5432/database or file:folder.",
	);
}
