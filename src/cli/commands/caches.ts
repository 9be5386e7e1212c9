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
		"Two versions of the topology: first with the servers that are to come beside the former ones, when all processes serve that, with them alone. Only keys that move are read from MySQL meanwhile. The same command goes on where one has ended half-way; with the former servers it takes a change back that is half-way.",
	exitCodes: {
		1: "refused, or some process does not switch: the same command goes on",
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
