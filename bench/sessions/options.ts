import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { countOf, numberOf, UsageError } from "../../tools/namedProgram.ts";
import type { PeerName } from "../servers/peers.ts";
import { type Habits, readHabits } from "./habits.ts";
import type { Cut } from "./peopleGraph.ts";

const PEER_NAMES = [
	"mercurius",
	"postgraphile",
	"drizzle",
	"yoga",
] as const satisfies readonly PeerName[];
export type SessionPeer = (typeof PEER_NAMES)[number];
const STANDARD_PEERS = "mercurius,postgraphile,drizzle";

const WAYS = ["text", "known"] as const;
export type SessionWay = (typeof WAYS)[number];

/** Pauses of the server that are put in. */
export interface Pauses {
	readonly ms: number;
	readonly everySeconds: number;
}

export interface SessionOptions {
	readonly cut: Cut;
	readonly habits: Habits;
	/** As given, for the report. */
	readonly habitsName: string;
	readonly people: number;
	/** Under way at once. */
	readonly sessions: number;
	readonly peers: readonly SessionPeer[];
	readonly ways: readonly SessionWay[];
	readonly connections: number;
	readonly rounds: number;
	readonly seconds: number;
	readonly warm: number;
	/** Shares of a server's closed loop that are offered in open loops. */
	readonly open: readonly number[];
	readonly pauses: Pauses | null;
	readonly roots: readonly string[];
	/** Settings of every Corkboard. */
	readonly env: Readonly<Record<string, string>>;
	readonly inspect: boolean;
	/** Measures at each line of stdin, with servers started anew, until it ends. */
	readonly waits: boolean;
	readonly seed: number;
	readonly shards: string;
	readonly out: string;
	/** Results to show in the documentation; nothing is measured then. */
	readonly publish: string | null;
}

export const usage = `usage: npm run bench -- sessions [options]

  People with an app, whose requests follow from the answers before: a profile, its boards, a board of 25 pins,
  further pages, a pin with likers; now and then a like, a new pin, a follow. Servers take turns.

  --graph FOLDER     with pinterest-saves.txt.gz and github-follows.csv.gz, public research graphs
                     (default: a generated graph of the same shape)
  --users N          of the cut of the graph (default 3000)
  --cut NAME         walk (whom a random walk over follows meets; default) or head (the first ones)
  --rows N           lists of saves that each user has (default 4)
  --habits FILE      what people do, as JSON with what differs from bench/sessions/habits.ts (default usual)
  --people N         who use the app (default 2000)
  --sessions N       under way at once (default 128)
  --peers NAMES      of ${PEER_NAMES.join(" ")}, or none (default ${STANDARD_PEERS})
                     PostGraphile checks no token
  --ways NAMES       how Corkboard is asked: ${WAYS.join(",")} (default: both)
  --connections N    of the closed loop, each with one request under way (default 32)
  --rounds N         (default 5)
  --seconds N        of one measurement (default 12)
  --warm N           seconds of sessions before, for each way its part, and as much for each peer: V8 compiles for tens of
                     thousands of requests (default 90)
  --open SHARES      of a server's own closed loop, offered in an open loop (default 0.5; none: no open loop)
  --pause MS,S       in open loops, stops the server for so long, every so many seconds
  --root FOLDER      another checkout of Corkboard beside this one, with its packages; may be given several times
  --env KEY=VALUE    a setting of every Corkboard; may be given several times
  --inspect          gives every Corkboard an inspector, and prints its port
  --wait             measures once for each line on stdin, with servers that are started then: when the machine is quiet,
                     or a change was made, without a new import; a line may have options of its own, which come after these
  --seed N           of cut, text and draws (default: another one each time)
  --shards N         (default 32)
  --quick            a small graph, one short round
  --out FILE         where the results go, as JSON (default data/bench/sessions-<time>.json)
  --publish FILE     make the results in FILE those of bench/results/sessions.md and the README, and measure nothing`;

export function readSessionOptions(args: readonly string[]): SessionOptions {
	const { values } = parseArgs({
		args: [...args],
		options: {
			graph: { type: "string" },
			users: { type: "string" },
			cut: { type: "string", default: "walk" },
			rows: { type: "string" },
			habits: { type: "string", default: "usual" },
			people: { type: "string" },
			sessions: { type: "string" },
			peers: { type: "string", default: STANDARD_PEERS },
			ways: { type: "string", default: WAYS.join(",") },
			connections: { type: "string" },
			rounds: { type: "string" },
			seconds: { type: "string" },
			warm: { type: "string" },
			open: { type: "string", default: "0.5" },
			pause: { type: "string" },
			root: { type: "string", multiple: true, default: [] },
			env: { type: "string", multiple: true, default: [] },
			inspect: { type: "boolean", default: false },
			wait: { type: "boolean", default: false },
			seed: { type: "string" },
			shards: { type: "string", default: "32" },
			quick: { type: "boolean", default: false },
			out: { type: "string" },
			publish: { type: "string" },
			help: { type: "boolean" },
		},
	});
	const { quick, cut } = values;
	if (cut !== "walk" && cut !== "head") {
		throw new UsageError(`--cut must be walk or head, got ${cut}.`);
	}
	const seed = countOf("seed", values.seed, randomInt(1, 1_000_000));
	return {
		cut: {
			folder: values.graph ?? null,
			users: countOf("users", values.users, quick ? 300 : 3_000, 2),
			kind: cut,
			rows: countOf("rows", values.rows, quick ? 1 : 4, 1),
			seed,
		},
		habits: readHabits(values.habits),
		habitsName: values.habits,
		people: countOf("people", values.people, quick ? 200 : 2_000, 1),
		sessions: countOf("sessions", values.sessions, quick ? 48 : 128, 1),
		peers: namesOf("peers", values.peers, PEER_NAMES),
		ways: namesOf("ways", values.ways, WAYS),
		connections: countOf("connections", values.connections, 32, 1),
		rounds: countOf("rounds", values.rounds, quick ? 1 : 5, 1),
		seconds: numberOf("seconds", values.seconds, quick ? 2 : 12, 0.1),
		warm: numberOf("warm", values.warm, quick ? 2 : 90),
		open: sharesOf(values.open),
		pauses: values.pause === undefined ? null : pausesOf(values.pause),
		roots: values.root,
		env: Object.fromEntries(
			values.env.map((setting) => {
				const at = setting.indexOf("=");
				return [setting.slice(0, at), setting.slice(at + 1)];
			}),
		),
		inspect: values.inspect,
		waits: values.wait,
		seed,
		shards: values.shards,
		out:
			values.out ??
			`data/bench/sessions-${new Date().toISOString().slice(0, 19)}.json`,
		publish: values.publish ?? null,
	};
}

function sharesOf(text: string): readonly number[] {
	if (text === "none") return [];
	return text.split(",").map((share) => numberOf("open", share, 0.5, 0.01));
}

function pausesOf(text: string): Pauses {
	const [ms, seconds] = text.split(",");
	return {
		ms: numberOf("pause", ms, 0, 1),
		everySeconds: numberOf("pause", seconds ?? "", 0, 0.1),
	};
}

function namesOf<Name extends string>(
	option: string,
	text: string,
	known: readonly Name[],
): readonly Name[] {
	const names = text === "none" ? [] : text.split(",");
	const strange = names.filter((name) => !known.some((one) => one === name));
	if (strange.length > 0) {
		throw new UsageError(`--${option} knows no ${strange.join(", ")}.`);
	}
	return known.filter((name) => names.includes(name));
}
