import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import { cacheProblems, inspectCaches } from "../../fleet/inspectCaches.ts";
import {
	rehearseCaches,
	setCaches,
	wantedCaches,
} from "../../fleet/map/setCaches.ts";
import { AGREEMENT_MS } from "../../fleet/topologyOperations.ts";
import { cachesWithoutPasswords } from "../../topology/caches.ts";
import {
	changesBetween,
	describeChange,
} from "../../topology/describeChange.ts";
import { command, flag, option } from "../command.ts";
import { table } from "../table.ts";
import {
	CHANGE_OPTIONS,
	describeAgreement,
	newest,
	openStoreForCommand,
	printAgreement,
} from "../topologyCommand.ts";
import { list } from "../values.ts";

const listCaches = command({
	isWatched: true,
	summary: "Shows the servers of shared caches, and whether they answer.",
	details:
		"It shows those of the map. If the map names none, it shows those of this command's settings. While they change, it shows the new ones too.",
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
					: `version ${version}${isChanging ? ": a change is under way; continue it with caches set" : ""}`,
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

const NONE = { memcached: [], redis: null };

const set = command({
	summary: "Changes the servers of the fleet's shared caches.",
	options: {
		objects: option(
			list("URLS"),
			"memcached://HOST:PORT, separated by commas (default: as they are)",
		),
		lists: option(
			list("URLS"),
			"redis://HOST:PORT, separated by commas (default: as they are)",
		),
		unchecked: flag("do not ask the servers whether they answer"),
		...CHANGE_OPTIONS,
	},
	details:
		"It publishes two versions of the topology. The first has the new servers beside the former ones. When all processes serve that, the second has the new ones alone. Only keys that move are read from MySQL meanwhile. If it ends half-way, run the same command again; with the former servers it undoes the change.",
	exitCodes: {
		1: "refused, or some process does not switch: run the same command again",
	},
	async run({ objects, lists, unchecked, dryRun, json }, context) {
		await using store = openStoreForCommand(context);
		const wanted = await wantedCaches(store, { objects, lists });
		const { before, topology, isNew } = await rehearseCaches(store, wanted);
		const problems = unchecked
			? []
			: cacheProblems(await inspectCaches(NONE, wanted));
		if (problems.length > 0) {
			throw new CorkboardError(
				"BAD_DATA",
				`${problems.join("\n")}\nSo nothing is published. To publish it all the same: --unchecked.`,
			);
		}
		const changes = before === null ? [] : changesBetween(before, topology);
		const lines = changes.map(describeChange);
		const isDone = !isNew && topology.caches?.next === undefined;
		if (dryRun || isDone) {
			const { version } = topology;
			return {
				value: { version, dryRun, changes, members: null },
				lines: [
					...lines,
					isDone
						? `no difference: version ${version} stays`
						: `version ${version} would be published, and then one without the former servers`,
				],
			};
		}
		const { version, agreement } = await setCaches({
			store,
			wanted,
			why: "caches set",
			agreeMs: AGREEMENT_MS,
			onStep: (line) => (json ? undefined : context.stderr(line)),
		});
		return {
			value: {
				version,
				dryRun,
				changes,
				members: agreement && describeAgreement(agreement),
			},
			lines: [
				...lines,
				...(agreement === null ? [] : [printAgreement(agreement, version)]),
			],
		};
	},
});

export const verbs = { list: listCaches, set };
