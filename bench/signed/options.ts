import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { countOf, numberOf, UsageError } from "../../tools/namedProgram.ts";
import type { PeerName } from "../servers/peers.ts";

export const PARTS = ["blend", "half", "garbage", "shapes"] as const;
export type Part = (typeof PARTS)[number];
export const READERS = ["signed", "anonymous"] as const;
export type Readers = (typeof READERS)[number];
/** Those with mutations. */
const PEER_NAMES = [
	"mercurius",
	"postgraphile",
	"drizzle",
	"yoga",
] as const satisfies readonly PeerName[];
export type SignedPeer = (typeof PEER_NAMES)[number];
const STANDARD_PEERS = "mercurius,postgraphile,drizzle";

export interface SignedOptions {
	readonly parts: readonly Part[];
	readonly peers: readonly SignedPeer[];
	readonly readers: readonly Readers[];
	/** Percent of all requests. */
	readonly writes: readonly number[];
	readonly viewers: number;
	readonly connections: number;
	readonly rounds: number;
	readonly seconds: number;
	readonly warm: number;
	readonly roots: readonly string[];
	readonly scale: number;
	readonly seed: number;
	readonly shards: string;
	readonly out: string;
	/** Results to show in the documentation; nothing is measured then. */
	readonly publish: string | null;
}

export const usage = `usage: npm run bench -- signed [options]

  --parts NAMES      ${PARTS.join(",")} (default: all)
                     blend    Q1 to Q4, a quarter each, on keys by Zipf's law, beside writes of signed-in viewers
                     half     the same at half of what each server carries (open loop), signed in, 5 % writes
                     garbage  how much of the main thread collects garbage, under the same load
                     shapes   what the other benches do not ask: likers with their boards, a page in the middle
                              of a list, 50 nodes by id, a viewer's own page, two levels of follows; no writes
  --peers NAMES      of ${PEER_NAMES.join(" ")}, or none (default ${STANDARD_PEERS})
                     PostGraphile checks no token, and is in no shape
  --readers NAMES    ${READERS.join(",")} (default: both); writers are signed in
  --writes SHARES    of all requests of the blend, in percent (default 0,5,20)
  --viewers N        who are signed in (default 600)
  --connections N    each with one request under way (default 32)
  --rounds N         (default 2)
  --seconds N        of one measurement (default 2.4)
  --warm N           seconds of load on each Corkboard before; peers, which keep nothing, get a quarter (default 30)
  --root FOLDER      another checkout of Corkboard beside this one, with its packages; may be given several times
  --scale N          size of the graph, as of \`npm run bench\` (default 0.3)
  --seed N           of the graph and the requests (default: another one each time)
  --shards N         (default 32)
  --out FILE         where the results go, as JSON (default data/bench/signed-<time>.json)
  --publish FILE     make the results in FILE those of bench/results/signed.md and the README, and measure nothing`;

export function readSignedOptions(args: readonly string[]): SignedOptions {
	const { values } = parseArgs({
		args: [...args],
		options: {
			parts: { type: "string", default: PARTS.join(",") },
			peers: { type: "string", default: STANDARD_PEERS },
			readers: { type: "string", default: READERS.join(",") },
			writes: { type: "string", default: "0,5,20" },
			viewers: { type: "string" },
			connections: { type: "string" },
			rounds: { type: "string" },
			seconds: { type: "string" },
			warm: { type: "string" },
			root: { type: "string", multiple: true, default: [] },
			scale: { type: "string" },
			seed: { type: "string" },
			shards: { type: "string", default: "32" },
			out: { type: "string" },
			publish: { type: "string" },
			help: { type: "boolean" },
		},
	});
	const writes = values.writes.split(",").map(Number);
	if (writes.some((share) => !(share >= 0 && share <= 100))) {
		throw new UsageError("--writes must be numbers from 0 to 100.");
	}
	return {
		parts: namesOf("parts", values.parts, PARTS),
		peers:
			values.peers === "none" ? [] : namesOf("peers", values.peers, PEER_NAMES),
		readers: namesOf("readers", values.readers, READERS),
		writes,
		viewers: countOf("viewers", values.viewers, 600, 1),
		connections: countOf("connections", values.connections, 32, 1),
		rounds: countOf("rounds", values.rounds, 2, 1),
		seconds: numberOf("seconds", values.seconds, 2.4, 0.1),
		warm: numberOf("warm", values.warm, 30),
		roots: values.root,
		scale: numberOf("scale", values.scale, 0.3),
		seed: countOf("seed", values.seed, randomInt(1, 1_000_000)),
		shards: values.shards,
		out:
			values.out ??
			`data/bench/signed-${new Date().toISOString().slice(0, 19)}.json`,
		publish: values.publish ?? null,
	};
}

function namesOf<Name extends string>(
	option: string,
	text: string,
	known: readonly Name[],
): readonly Name[] {
	const names = text.split(",");
	const strange = names.filter((name) => !known.some((one) => one === name));
	if (strange.length > 0) {
		throw new UsageError(`--${option} knows no ${strange.join(", ")}.`);
	}
	return known.filter((name) => names.includes(name));
}
