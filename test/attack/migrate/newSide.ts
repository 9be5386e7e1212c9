import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../helpers/program.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { startMysql } from "../../services/mysql.ts";
import type { Server } from "../../services/server.ts";

/** Where an old database is brought over to. */
export interface NewSide extends AsyncDisposable {
	/** What `corkboard` is run with. */
	readonly env: Environment;
	/** The primary of all shards; null for an embedded folder. */
	readonly primary: Server | null;
}

/** Without any tables. */
export async function startNewSide(
	kind: "embedded" | "mysql",
): Promise<NewSide> {
	await using stack = new AsyncDisposableStack();
	const folder = stack.use(temporaryFolder());
	const env = { CORKBOARD_DATA: join(folder.path, "data") };
	if (kind === "embedded") {
		const owned = stack.move();
		return {
			env,
			primary: null,
			[Symbol.asyncDispose]: () => owned.disposeAsync(),
		};
	}
	const primary = stack.use(
		await startMysql({ args: ["--innodb-buffer-pool-size=512M"] }),
	);
	const file = join(folder.path, "topology.json");
	const place = { range: [0, 3], primary: primary.url };
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: [{ ...place, open: true }],
			lookups: [place],
		}),
	);
	const owned = stack.move();
	return {
		env: {
			CORKBOARD_TOPOLOGY: file,
			CORKBOARD_MODE: "development",
			CORKBOARD_SECRET: "of the attack for its runners alone 32 bytes or more",
		},
		primary,
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}
