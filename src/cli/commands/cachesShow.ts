import { readConfig } from "../../config/config.ts";
import { inspectCaches } from "../../fleet/inspectCaches.ts";
import { cachesWithoutPasswords } from "../../topology/caches.ts";
import { command } from "../command.ts";
import { table } from "../table.ts";
import { newest, openStoreForCommand } from "../topologyCommand.ts";

export const { usage, run } = command({
	summary: "Shows the servers of shared caches, and whether they answer.",
	details:
		"Those of the map; where it names none, those that the settings of this command name. While they change, those that are to come too.",
	exitCodes: { 1: "a server does not answer; or an error" },
	async run(_given, context) {
		await using store = openStoreForCommand(context);
		const { version, caches } = await newest(store);
		const config = readConfig(context.env, { secret: "unneeded" });
		const hosts = await inspectCaches(config, caches);
		const isChanging = caches?.next !== undefined;
		return {
			value: {
				version,
				caches: caches === undefined ? null : cachesWithoutPasswords(caches),
				hosts: hosts.map(({ layer, host, error }) => ({ layer, host, error })),
			},
			lines: [
				caches === undefined
					? `version ${version} names no caches: these are of the settings`
					: `version ${version}${isChanging ? ": a change is under way; go on with caches set" : ""}`,
				...table(
					hosts.map(({ layer, host, error }) => [
						layer,
						host,
						error ?? "answers",
					]),
				),
			],
			code: hosts.some(({ error }) => error !== null) ? 1 : 0,
		};
	},
});
