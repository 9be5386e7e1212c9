import type { Cell } from "../cell.ts";
import { idOfRow } from "../checkAnswers.ts";
import { type Measurement, measure, sendLoad } from "../measure.ts";
import { QUERY_NAMES, type QueryName, textOf } from "../queries.ts";
import { signToken, spellRequest } from "../requests.ts";
import {
	flavorOf,
	serverName,
	VARIANTS,
	type VariantName,
} from "../variants.ts";
import type { World } from "../world.ts";

export const CONNECTIONS = 32;
export const MANY_CONNECTIONS = 128;
const HOT_KEYS = 30;
/** Before a measurement, for a server that stood idle while the others had their turns. */
const LEAD_SECONDS = 0.25;

/** Servers with a cache in their process, which is filled before they are measured. */
const KEEPING: ReadonlySet<string> = new Set([
	"corkboard-layered",
	"corkboard-executed",
	"corkboard-sqlite",
]);
const KEEPING_WEIGHT = 3;

export type Keys = "zipf" | "uniform" | "hot";
type Load = Pick<Measurement, "set" | "requests" | "order" | "from">;

/** The queries, as every variant asks them. */
export class Reads {
	readonly #world: World;
	readonly #bytes: Readonly<Record<QueryName, number>>;
	readonly #requests = new Map<string, readonly string[]>();
	/** Where the next measurement of a set begins: none asks for the same keys as the last. */
	readonly #positions = new Map<string, number>();

	constructor(world: World, bytes: Readonly<Record<QueryName, number>>) {
		this.#world = world;
		this.#bytes = bytes;
	}

	/** Loads each server with all queries in turn, `minutes` in all: those that keep what they read for longer. */
	async warm(
		variants: readonly VariantName[],
		minutes: number,
		signal: AbortSignal,
	): Promise<void> {
		const servers = new Map(
			variants.map((name) => [serverName(VARIANTS[name]), name]),
		);
		const turns = Math.max(1, Math.round(minutes * 2));
		const weights = new Map(
			[...servers].map(([name, variant]) => [
				variant,
				KEEPING.has(name) ? KEEPING_WEIGHT : 1,
			]),
		);
		const weight = [...weights.values()].reduce((sum, one) => sum + one, 0);
		const second = (minutes * 60) / turns / weight / QUERY_NAMES.length;
		for (let turn = 0; turn < turns; turn++) {
			for (const [variant, share] of weights) {
				const { port } = await this.#world.serverOf(variant);
				for (const query of QUERY_NAMES) {
					signal.throwIfAborted();
					const load = await this.loadOf(variant, query, "zipf");
					const { requests } = await sendLoad(this.#world, port, {
						...load,
						connections: CONNECTIONS,
						seconds: second * share,
					});
					this.#moveOn(load, requests);
				}
			}
		}
	}

	/** One round: all variants take turns at each query. */
	async *round(
		section: "reads" | "hot" | "many",
		round: number,
		variants: readonly VariantName[],
		signal: AbortSignal,
		/** Asked before each query: a query is measured on all variants, or on none. */
		isOver: () => boolean = () => false,
	): AsyncGenerator<Cell> {
		const { seconds } = this.#world.options;
		const connections = section === "many" ? MANY_CONNECTIONS : CONNECTIONS;
		for (const question of QUERY_NAMES) {
			if (isOver()) return;
			// In another order each round: none always runs after the same other.
			for (const variant of rotated(variants, round)) {
				signal.throwIfAborted();
				const keys = section === "hot" ? "hot" : "zipf";
				const load = await this.loadOf(variant, question, keys);
				const { port } = await this.#world.serverOf(variant);
				const lead = await sendLoad(this.#world, port, {
					...load,
					connections,
					seconds: Math.min(LEAD_SECONDS, seconds / 2),
				});
				const cell = await measure(this.#world, {
					...load,
					from: load.from + lead.requests,
					section,
					round,
					variant,
					question,
					connections,
					seconds,
				});
				this.#moveOn(load, lead.requests + cell.requests);
				yield cell;
			}
		}
	}

	/** What `variant` sends, from where the last measurement ended. */
	async loadOf(
		variant: VariantName,
		query: QueryName,
		keys: Keys = "zipf",
	): Promise<Load> {
		const set = `${variant} ${query}`;
		let requests = this.#requests.get(set);
		if (requests === undefined) {
			requests = await this.#spell(variant, query);
			this.#requests.set(set, requests);
		}
		const { order, uniform, ids } = this.#world.pools[query];
		return {
			set,
			requests,
			order: { zipf: order, uniform, hot: firstOf(HOT_KEYS, ids.length) }[keys],
			from: this.#positions.get(set) ?? 0,
		};
	}

	#moveOn({ set }: Load, requests: number): void {
		this.#positions.set(set, (this.#positions.get(set) ?? 0) + requests);
	}

	async #spell(
		variant: VariantName,
		query: QueryName,
	): Promise<readonly string[]> {
		const world = this.#world;
		const { way } = VARIANTS[variant];
		const text = textOf(flavorOf(variant), query);
		const options = {
			...(way === "token" && {
				token: await signToken(world.idOf(variant, "u:1")),
			}),
			...(variant === "canned" && { path: `/canned/${this.#bytes[query]}` }),
		};
		return world.pools[query].ids.map((row) => {
			const id = idOfRow(world, variant, query, row);
			return spellRequest({ text, variables: { id } }, way, options);
		});
	}
}

export function firstOf(wanted: number, size: number): Uint32Array {
	return Uint32Array.from({ length: Math.min(wanted, size) }, (_, n) => n);
}

export function rotated<T>(items: readonly T[], by: number): readonly T[] {
	const at = by % items.length;
	return [...items.slice(at), ...items.slice(0, at)];
}
