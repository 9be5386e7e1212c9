/**
 * `npm run bench -- overload`: what clients get who ask a server for more than
 * it carries, and for how long after. An open loop: clients do not wait for
 * each other.
 */
import { parseArgs } from "node:util";
import { countOf, numberOf, UsageError } from "../../tools/namedProgram.ts";
import { readOptions } from "../options.ts";
import { Progress } from "../progress.ts";
import { describeMachine } from "../results.ts";
import { CAN_PIN } from "../servers/cores.ts";
import { createWorld } from "../world.ts";
import { MIXES, type MixName, viewersOf, WRITES } from "./mix.ts";
import {
	CONNECTIONS,
	type Overload,
	PATIENCE_MS,
	startServer,
} from "./offer.ts";
import {
	HOSTS,
	LIGHT,
	measureCarried,
	PARTS,
	type Part,
	RUNS,
} from "./parts.ts";

const MIX_NAMES = Object.keys(MIXES) as MixName[];
const VIEWERS = 200;

export const usage = `usage: npm run bench -- overload [options]

  --parts NAMES      ${PARTS.join(",")} (default: all)
                     load     half of what it carries (K), K, 2 K and 4 K
                     spike    four seconds of 3.5 K, and 0.6 K before and after
                     dead     the same while one of ${HOSTS} MySQL hosts is dead
                     flood    ${LIGHT} light clients beside one that sends 3.5 K
                     restart  a server with an empty process cache, at 0.9 K
                     redis    Redis is killed under 0.6 K
                     limp     one MySQL host of ${HOSTS} stops, under 0.3 K
                     late     one MySQL host of ${HOSTS} answers 2 s late, under 0.3 K
  --mix NAME         ${MIX_NAMES.join(" ")} (default usual)
  --seconds N        of one phase (default 15; with --quick 4)
  --scale N, --seed N, --shards N   as of \`npm run bench\` (scale: default 0.05; 0.01)
  --root FOLDER      another checkout of Corkboard to measure, with its packages
  --env KEY=VALUE    a setting of the server; may be given several times
  --quick            half a minute: load and spike
  --json             print the results as JSON at the end`;

export async function run(args: readonly string[]): Promise<number> {
	const { values } = parseArgs({
		args: [...args],
		options: {
			parts: { type: "string" },
			mix: { type: "string", default: "usual" },
			seconds: { type: "string" },
			scale: { type: "string" },
			seed: { type: "string" },
			shards: { type: "string", default: "32" },
			root: { type: "string" },
			env: { type: "string", multiple: true, default: [] },
			quick: { type: "boolean", default: false },
			json: { type: "boolean", default: false },
			help: { type: "boolean" },
		},
	});
	const { quick } = values;
	const parts = (values.parts?.split(",") ??
		(quick ? ["load", "spike"] : PARTS)) as Part[];
	const strange = parts.filter((part) => !PARTS.includes(part));
	if (strange.length > 0) {
		throw new UsageError(`--parts knows no ${strange.join(", ")}.`);
	}
	const mix = values.mix as MixName;
	if (!MIX_NAMES.includes(mix)) {
		throw new UsageError(`--mix must be one of ${MIX_NAMES.join(", ")}.`);
	}
	const seed = countOf("seed", values.seed, 1);
	const options = {
		...readOptions([
			...[
				"--scale",
				String(numberOf("scale", values.scale, quick ? 0.01 : 0.05)),
			],
			...["--seed", String(seed), "--shards", values.shards, "--only", "known"],
			...(values.root === undefined ? [] : ["--root", values.root]),
		]),
		hosts: HOSTS,
		documents: Object.values(WRITES),
	};
	const progress = new Progress();
	const { signal } = new AbortController();
	await using world = await createWorld(
		options,
		(text) => progress.say(text),
		signal,
	);
	const given = {
		world,
		viewers: await viewersOf(world, VIEWERS),
		mix: MIXES[mix],
		seconds: numberOf("seconds", values.seconds, quick ? 4 : 15, 1),
		seed,
		env: Object.fromEntries(
			values.env.map((setting) => {
				const at = setting.indexOf("=");
				return [setting.slice(0, at), setting.slice(at + 1)];
			}),
		),
		progress,
		results: {},
	};
	console.log(
		`${mix} mix, ${VIEWERS} viewers, ${CONNECTIONS} connections, clients that give up after ${PATIENCE_MS / 1_000} s; ${HOSTS} MySQL hosts with ${options.shards} shards; seed ${seed}; ${JSON.stringify(describeMachine(CAN_PIN))}`,
	);
	progress.say("load");
	await using server = await startServer(given);
	const measured = { ...given, server };
	const carried = await measureCarried(measured);
	const overload: Overload = { ...measured, carried };
	for (const part of parts) {
		progress.say(part);
		await RUNS[part](overload);
	}
	if (values.json) console.log(JSON.stringify(overload.results, null, "\t"));
	return 0;
}
