import { synopsis, type Usage } from "../src/cli/arguments.ts";
import { loadCommands } from "../src/cli/main.ts";

/** The page of docs/ that says more, by command. */
const MORE: Readonly<Record<string, string>> = {
	worker: "[jobs](../how-to/jobs.md#write-a-job-of-your-own)",
	init: "[deploy](../how-to/install.md#how-do-i-deploy-a-new-version-without-an-outage), [a lost table](../how-to/recovery.md#a-lost-table)",
	status: "[is the fleet well](../how-to/fleet-status.md#is-the-fleet-well)",
	top: "[what does a server do now](../how-to/fleet-status.md#what-does-a-server-do-now)",
	"grants show":
		"[privileges](../how-to/install.md#which-privileges-does-the-mysql-user-need)",
	import: "[import](../how-to/import-and-verify.md#import)",
	verify: "[verify](../how-to/import-and-verify.md#verify)",
	explain:
		"[from an error to its cause](../how-to/fleet-status.md#from-an-error-to-its-cause)",
	"schema diff":
		"[remove a field](../how-to/persisted-documents.md#remove-a-field-or-a-document)",
	"map rollback":
		"[a wrong map](../how-to/shard-map.md#a-wrong-map-is-published)",
	"shards open": "[open new shards](../how-to/shard-map.md#open-new-shards)",
	"hosts check":
		"[ready for an operation](../how-to/fleet-status.md#is-the-fleet-ready-for-an-operation), [what to back up](../how-to/recovery.md#how-do-i-back-up-and-restore)",
	"shards balance": "[what to move](../how-to/move-shards.md#what-to-move)",
	"shards move": "[move shards](../how-to/move-shards.md)",
	"hosts accept-loss":
		"[a failover that lost writes](../how-to/recovery.md#a-failover-lost-writes)",
	"hosts salvage":
		"[the old primary is back](../how-to/recovery.md#when-the-old-primary-is-back)",
	"hosts raise-ids": "[restore a host](../how-to/recovery.md#restore-a-host)",
	"hosts promote":
		"[promote](../how-to/replicas.md#promote-a-replica), [a dead primary](../how-to/recovery.md#when-a-primary-dies)",
	"replicas add": "[add a replica](../how-to/replicas.md#add-a-replica)",
	"queues list": "[operate queues](../how-to/queue.md)",
	"queues rotate": "[rotation](../how-to/queue.md#rotation)",
	"feeds explain": "[home feed](../feed.md#for-operators)",
};

/** docs/reference/commands.md, from what the commands declare. */
export async function commandsPage(): Promise<string> {
	const usages = [...(await loadCommands())].map(([name, { usage }]) => ({
		name,
		usage,
	}));
	return `# Commands

\`npm run -s corkboard -- COMMAND\` runs a command in a clone. After \`npm link\`, or \`npm install --global\` of what \`npm pack\` makes, it is
\`corkboard COMMAND\`.

- \`COMMAND --help\` describes its options, \`schema --help\` a group of commands. \`--version\` prints the version.
- Settings come from the environment ([configuration](configuration.md)).
- Results are on stdout. Progress, warnings and errors are on stderr.
- \`--json\`, which the table leaves out, prints one JSON value for scripts ([its shape, by command](commands-json.md)).
- A duration has a unit: \`500ms\`, \`5s\`, \`10m\`, \`24h\`, \`7d\`.

| command | what it does |
|---|---|
${usages.map(commandRow).join("\n")}

## Exit codes

| code | meaning |
|---|---|
| 0 | done |
| 1 | an error, on stderr; or the command found what it looks for, such as damage or a fault |
| 2 | the command line is not valid; stderr says what was expected |
| 3 | done in part, or not known: not everything could be checked, an operation is half done, or a process does not serve the new version yet |
| 4 | somebody else has taken the operation over |
| 130, 143 | interrupted by SIGINT or SIGTERM: \`import\` and \`verify\`, which first finish their current batch |

\`COMMAND --help\` says what its own codes mean.
A command that ends with 1 or 2 because of an error prints nothing on stdout.
`;
}

interface Named {
	readonly name: string;
	readonly usage: Usage;
}

function commandRow({ name, usage }: Named): string {
	const shown = synopsis(name, usage)
		.replace(" [--json]", "")
		.replaceAll("|", "\\|");
	const more = MORE[name] === undefined ? "" : ` (${MORE[name]})`;
	return `| \`${shown}\` | ${usage.summary.replaceAll("|", "\\|").replace(/\.$/, `${more}.`)} |`;
}
