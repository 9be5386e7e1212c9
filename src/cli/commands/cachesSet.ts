import { CorkboardError } from "../../errors.ts";
import { cacheProblems, inspectCaches } from "../../fleet/inspectCaches.ts";
import {
	rehearseCaches,
	setCaches,
	wantedCaches,
} from "../../fleet/map/setCaches.ts";
import { AGREEMENT_MS } from "../../fleet/topologyOperations.ts";
import {
	changesBetween,
	describeChange,
} from "../../topology/describeChange.ts";
import { command, flag, option } from "../command.ts";
import {
	CHANGE_OPTIONS,
	describeAgreement,
	openStoreForCommand,
	printAgreement,
} from "../topologyCommand.ts";
import { list } from "../values.ts";

const NONE = { memcached: [], redis: null };

export const { usage, run } = command({
	summary: "Gives the fleet other servers for its shared caches.",
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
		1: "refused, or some process does not go over: the same command goes on",
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
			...{ store, wanted, why: "caches set", agreeMs: AGREEMENT_MS },
			onStep: (line) => (json ? undefined : context.stderr(line)),
		});
		return {
			value: {
				...{ version, dryRun, changes },
				members: agreement && describeAgreement(agreement),
			},
			lines: [
				...lines,
				...(agreement === null ? [] : [printAgreement(agreement, version)]),
			],
		};
	},
});
