import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "../../src/util/random.ts";
import type { Cell } from "../cell.ts";
import { type MeasuredLoad, measureLoad } from "../measure.ts";
import type { OpenResult } from "../overload/messages.ts";
import { sendOpenLoad } from "../overload/sendOpenLoad.ts";
import { drawZipf } from "../pools.ts";
import { textOf } from "../queries.ts";
import { percentilesOf } from "../report/statistics.ts";
import { signToken, spellRequest } from "../requests.ts";
import { moveToOtherCores } from "../servers/cores.ts";
import { flavorOf, VARIANTS, type VariantName } from "../variants.ts";
import type { World } from "../world.ts";
import { type Actor, actorsOf, MUTATIONS } from "./actors.ts";
import { CONNECTIONS } from "./reads.ts";

/** Writes to the board a second. */
const RATES: readonly number[] = [0, 20];
const VIEWERS = 500;
const SIGNED = 0.5;
const HOT = 0.7;
const PREPARED = 20_000;
const LIMIT_MS = 20_000;
/** Times `--seconds`: 20 writes a second give a percentile only after a while. */
const LENGTH = 4;

/** Requests of the readers, and who writes to what they read. */
interface Board {
	readonly requests: readonly string[];
	/** Whether a request is for the board. */
	readonly isHot: readonly boolean[];
	readonly token: string;
	readonly id: string;
	/** The tokens of readers, one of whom asks for the board after each write. */
	readonly tokens: readonly string[];
	readonly text: string;
}

/** One board that most readers ask for, while its owner puts pins on it. */
export async function* hotBoardRound(
	world: World,
	round: number,
	variants: readonly VariantName[],
	signal: AbortSignal,
): AsyncGenerator<Cell> {
	const actor = ownerOf(world);
	for (const variant of variants) {
		const board = await boardOf(world, variant, actor);
		const { port } = await world.serverOf(variant);
		await sendReads(world, port, board, world.options.seconds);
		for (const rate of RATES) {
			signal.throwIfAborted();
			yield await measureLoad(
				world,
				{
					section: "hotBoard",
					round,
					variant,
					question: `${rate} writes/s`,
					connections: CONNECTIONS,
				},
				(port) => loadOf(world, port, board, rate),
			);
		}
	}
}

/** Whose board has a whole page. */
function ownerOf(world: World): Actor {
	const actors = actorsOf(world);
	const sizes = new Map<number, number>();
	for (const { board } of world.graph.pins) {
		sizes.set(board + 1, (sizes.get(board + 1) ?? 0) + 1);
	}
	const [first] = actors.toSorted(
		(a, b) => (sizes.get(b.board) ?? 0) - (sizes.get(a.board) ?? 0),
	);
	if (first === undefined) throw new Error("Nobody has a board with pins.");
	return first;
}

async function boardOf(
	world: World,
	variant: VariantName,
	{ user, board }: Actor,
): Promise<Board> {
	const { graph, options, pools } = world;
	const random = seededRandom(options.seed + 4);
	const tokens = await Promise.all(
		graph.users
			.slice(0, VIEWERS)
			.map((_, n) => signToken(world.idOf(variant, `u:${n + 1}`))),
	);
	const text = textOf(flavorOf(variant), "q2");
	const { way } = VARIANTS[variant];
	const keys = drawZipf(pools.q2.ids.length, PREPARED, options.seed + 5);
	const isHot = Array.from({ length: PREPARED }, () => random.chance(HOT));
	const requests = isHot.map((hot, n) => {
		const row = hot ? board : pools.q2.ids[keys[n] as number];
		return spellRequest(
			{ text, variables: { id: world.idOf(variant, `b:${row}`) } },
			way,
			random.chance(SIGNED) ? { token: random.pick(tokens) } : {},
		);
	});
	return {
		requests,
		isHot,
		text,
		tokens,
		token: await signToken(world.idOf(variant, `u:${user}`)),
		id: world.idOf(variant, `b:${board}`),
	};
}

async function sendReads(
	{ options }: World,
	port: number,
	{ requests }: Board,
	seconds: number,
): Promise<OpenResult> {
	const [result] = await sendOpenLoad(
		{
			port,
			patienceMs: LIMIT_MS,
			clients: [
				{
					name: "readers",
					address: "127.0.0.1",
					connections: CONNECTIONS,
					phases: [{ seconds, rate: null }],
					requests,
					seed: options.seed,
				},
			],
		},
		moveToOtherCores,
	);
	return result as OpenResult;
}

async function loadOf(
	world: World,
	port: number,
	board: Board,
	rate: number,
): Promise<MeasuredLoad> {
	const seconds = world.options.seconds * LENGTH;
	const writing = new Writer(port, board, world.options.seed);
	const [reads] = await Promise.all([
		sendReads(world, port, board, seconds),
		writing.run(rate, seconds),
	]);
	const hot = percentilesOf(
		reads.ms.filter((_, n) => board.isHot[reads.request[n] as number]),
	);
	const writes = percentilesOf(writing.ms);
	const failed = reads.outcome.filter((outcome) => outcome > 0).length;
	return {
		requests: reads.ms.length,
		errors: failed + writing.errors.length + writing.stale,
		firstError: reads.firstError ?? writing.errors[0] ?? null,
		// The sender counts none.
		bytes: 0,
		seconds,
		p50: hot.at(0.5),
		p99: hot.at(0.99),
		most: hot.at(1),
		figures: {
			"p99.9 ms": hot.at(0.999),
			writes: writing.ms.length,
			"write p50 ms": writes.at(0.5),
			"write p99 ms": writes.at(0.99),
			stale: writing.stale,
		},
	};
}

/** Puts a pin on the board at each of its times, and asks for the board as soon as that is acknowledged. */
class Writer {
	readonly #url: string;
	readonly #board: Board;
	readonly #random;
	readonly ms: number[] = [];
	readonly errors: string[] = [];
	/** Answers without the pin. */
	stale = 0;

	constructor(port: number, board: Board, seed: number) {
		this.#url = `http://127.0.0.1:${port}/graphql`;
		this.#board = board;
		this.#random = seededRandom(seed + 6);
	}

	async run(rate: number, seconds: number): Promise<void> {
		const began = performance.now();
		const all: Promise<void>[] = [];
		for (let n = 0; n < Math.floor(rate * seconds); n++) {
			await sleep(Math.max(0, began + (n * 1_000) / rate - performance.now()));
			all.push(
				this.#write(n).catch((error) => {
					this.errors.push(String(error));
				}),
			);
		}
		await Promise.all(all);
	}

	async #write(n: number): Promise<void> {
		const { id, token, tokens, text } = this.#board;
		const began = performance.now();
		const written = await this.#ask(
			MUTATIONS.createPin,
			{ input: { boardId: id, details: `A pin of the hot board, ${n}` } },
			token,
		);
		this.ms.push(performance.now() - began);
		const reader = this.#random.chance(SIGNED)
			? this.#random.pick(tokens)
			: undefined;
		const read = await this.#ask(text, { id }, reader);
		const pin = /"id":"?([^",}]+)/.exec(written)?.[1];
		if (!read.includes(`"id":"${pin}"`)) this.stale++;
	}

	async #ask(
		query: string,
		variables: Readonly<Record<string, unknown>>,
		token: string | undefined,
	): Promise<string> {
		const response = await fetch(this.#url, {
			method: "POST",
			headers: {
				"content-type": "application/json",
				...(token !== undefined && { authorization: `Bearer ${token}` }),
			},
			body: JSON.stringify({ query, variables }),
			signal: AbortSignal.timeout(LIMIT_MS),
		});
		const answer = await response.text();
		if (!response.ok || answer.includes('"errors":')) {
			throw new Error(`status ${response.status}: ${answer.slice(0, 400)}`);
		}
		return answer;
	}
}
