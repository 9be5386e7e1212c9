import type { Cell } from "../cell.ts";
import { measure, sendLoad } from "../measure.ts";
import { PEERS } from "../servers/peers.ts";
import { VARIANTS, type VariantName } from "../variants.ts";
import type { World } from "../world.ts";
import { type Actor, ActorRequests, actorsOf, MUTATIONS } from "./actors.ts";
import { countStatements } from "./commits.ts";
import { firstOf } from "./reads.ts";

const CONNECTIONS: readonly number[] = [1, 16];
/** More than any server answers. A second. */
const MOST_RATE = 4_000;

const KINDS = ["createPin", "followUser", "likePin"] as const;
type Kind = (typeof KINDS)[number];

/** Single mutations. None is asked for twice of one database in a run, so each one writes. */
export class Writes {
	readonly #world: World;
	readonly #actors: readonly Actor[];
	/** How many of each were asked for, by database. */
	readonly #asked = new Map<string, number>();

	constructor(world: World) {
		this.#world = world;
		this.#actors = actorsOf(world);
	}

	async *round(
		section: "writes" | "durable",
		round: number,
		variants: readonly VariantName[],
		signal: AbortSignal,
		each = CONNECTIONS,
	): AsyncGenerator<Cell> {
		for (const question of KINDS) {
			for (const connections of each) {
				for (const variant of variants) {
					signal.throwIfAborted();
					const set = `${variant} ${question}`;
					const kind = `${databaseOf(variant)} ${question}`;
					const asked = this.#asked.get(kind) ?? 0;
					const { seconds } = this.#world.options;
					const requests = await this.#spell(
						variant,
						question,
						asked,
						Math.ceil(2 * seconds * MOST_RATE),
					);
					const order = firstOf(requests.length, requests.length);
					const load = { set, requests, order, connections, seconds };
					const { port } = await this.#world.serverOf(variant);
					// A mutation is asked for in no other section: V8 compiles it now.
					const lead = await sendLoad(this.#world, port, { ...load, from: 0 });
					await using statements = await countStatements(this.#world, variant);
					const cell = await measure(this.#world, {
						section,
						round,
						variant,
						question,
						...load,
						from: lead.requests,
					});
					const counted = await statements?.count(cell.requests);
					this.#asked.set(kind, asked + lead.requests + cell.requests);
					yield { ...cell, ...(counted && { figures: counted }) };
				}
			}
		}
	}

	/** From the one of this number on. */
	async #spell(
		variant: VariantName,
		kind: Kind,
		from: number,
		count: number,
	): Promise<readonly string[]> {
		const world = this.#world;
		const actors = this.#actors;
		const spelled = await ActorRequests.of(world, variant, actors);
		const { users, pins } = world.graph;
		return Array.from({ length: count }, (_, nth) => {
			const n = from + nth;
			const actor = actors[n % actors.length] as Actor;
			// Each actor goes through all users and pins, from a place of their own.
			const turn = Math.floor(n / actors.length);
			// Nobody follows themselves: from 1 to one less than all users further on.
			const other = (actor.user + (turn % (users.length - 1))) % users.length;
			const pin = (actor.user * 131 + turn * 7) % pins.length;
			const input = {
				createPin: {
					boardId: spelled.id(`b:${actor.board}`),
					details: `A pin of the benchmark, number ${n}`,
					link: `https://example.com/bench/${n}`,
				},
				followUser: { userId: spelled.id(`u:${other + 1}`) },
				likePin: { pinId: spelled.id(`p:${pin + 1}`) },
			}[kind];
			return spelled.spell(actor, MUTATIONS[kind], { input });
		});
	}
}

/** What servers write into, by a name: several peers have one database. */
function databaseOf(variant: VariantName): string {
	const { server } = VARIANTS[variant];
	return server.kind === "peer" ? PEERS[server.peer].database : variant;
}
