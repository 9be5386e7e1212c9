import { type Random, seededRandom } from "../../src/util/random.ts";
import type { Cell } from "../cell.ts";
import { measure, sendLoad } from "../measure.ts";
import { drawZipf } from "../pools.ts";
import { flavorOf, type VariantName } from "../variants.ts";
import type { World } from "../world.ts";
import { type Actor, ActorRequests, actorsOf, MUTATIONS } from "./actors.ts";
import { firstOf } from "./reads.ts";

const CONNECTIONS = 16;
const PREPARED = 12_000;
/** The exponent for reads; LinkBench draws the objects of writes less unevenly. */
const READ_ZIPF = 0.8;

/**
 * LinkBench's operations and their shares (facebookarchive/linkbench,
 * config/FBWorkload.properties), on pins and likes: a pin is a node, a like is a
 * link, and to update a link is to like again what one likes.
 */
const SHARES = {
	getList: 50.712,
	getNode: 12.933,
	addLink: 8.989,
	updateLink: 8.012,
	updateNode: 7.366,
	countLinks: 4.886,
	deleteLink: 2.991,
	addNode: 2.573,
	deleteNode: 1.012,
	getLink: 0.526,
} as const;
type Operation = keyof typeof SHARES;

const READS = {
	getList:
		"query GetList($id: ID!) { pin(id: $id) { likedBy(first: 10) { nodes { id } } } }",
	getNode: "query GetNode($id: ID!) { pin(id: $id) { details link } }",
	getLink: "query GetLink($id: ID!) { pin(id: $id) { viewerLikes } }",
} as const;

/** One list of requests per server, in the same order for all. */
export async function* mixRound(
	world: World,
	round: number,
	variants: readonly VariantName[],
	signal: AbortSignal,
): AsyncGenerator<Cell> {
	for (const variant of variants) {
		signal.throwIfAborted();
		const requests = await spell(world, variant, round);
		const load = {
			set: `${variant} mix ${round}`,
			requests,
			order: firstOf(requests.length, requests.length),
			connections: CONNECTIONS,
		};
		const { port } = await world.serverOf(variant);
		const lead = await sendLoad(world, port, {
			...load,
			from: 0,
			seconds: world.options.seconds,
			most: requests.length >> 2,
		});
		yield await measure(world, {
			...load,
			section: "mix",
			round,
			variant,
			question: "mix",
			from: lead.requests,
			seconds: world.options.seconds * 3,
			most: requests.length - lead.requests,
		});
	}
}

async function spell(
	world: World,
	variant: VariantName,
	round: number,
): Promise<readonly string[]> {
	const { graph, options } = world;
	const actors = actorsOf(world);
	const spelled = await ActorRequests.of(world, variant, actors);
	const random = seededRandom(options.seed + 10 + round);
	const keys = drawZipf(graph.pins.length, PREPARED, options.seed, READ_ZIPF);
	const likes = likesOf(world, actors);
	// What a round deletes no other request names, nor another round.
	const doomed = actors.map(({ pins }) => pins.slice(0, pins.length >> 1));
	const isDoomed = new Set(doomed.flat());
	let deleted = round * 200;
	const draw = (n: number): string => {
		const actor = random.pick(actors);
		const liked = likes.length === 0 ? undefined : random.pick(likes);
		const mutate = (
			by: Actor,
			name: keyof typeof MUTATIONS,
			input: Readonly<Record<string, unknown>>,
		) => spelled.spell(by, MUTATIONS[name], { input });
		const own = actor.pins[
			random.integer(actor.pins.length >> 1, actor.pins.length - 1)
		] as number;
		const key = (keys[n] as number) + 1;
		const pin = spelled.id(`p:${isDoomed.has(key) ? own : key}`);
		const operation = drawOperation(random);
		switch (operation) {
			case "getList":
			case "getNode":
			case "getLink":
				return spelled.spell(actor, READS[operation], { id: pin });
			case "countLinks":
				return spelled.spell(actor, countText(variant), { id: pin });
			case "addNode":
				return mutate(actor, "createPin", {
					boardId: spelled.id(`b:${actor.board}`),
					details: `A pin of the mix, number ${n}`,
				});
			case "updateNode":
				return mutate(actor, "updatePin", {
					pinId: spelled.id(`p:${own}`),
					details: `Changed by the mix, number ${n}`,
				});
			case "deleteNode": {
				const turn = deleted++;
				const index = turn % actors.length;
				const of = doomed[index] ?? [];
				const target = of[Math.floor(turn / actors.length)];
				if (target === undefined) {
					return spelled.spell(actor, READS.getNode, { id: pin });
				}
				return mutate(actors[index] as Actor, "deletePin", {
					pinId: spelled.id(`p:${target}`),
				});
			}
			case "deleteLink":
				return mutate(liked?.actor ?? actor, "unlikePin", {
					pinId: liked === undefined ? pin : spelled.id(`p:${liked.pin}`),
				});
			case "updateLink":
				return mutate(liked?.actor ?? actor, "likePin", {
					pinId: liked === undefined ? pin : spelled.id(`p:${liked.pin}`),
				});
			case "addLink":
				return mutate(actor, "likePin", { pinId: pin });
		}
	};
	return Array.from({ length: PREPARED }, (_, n) => draw(n));
}

function countText(variant: VariantName): string {
	return flavorOf(variant) === "corkboard"
		? "query Count($id: ID!) { pin(id: $id) { likedBy(first: 1) { totalCount } } }"
		: "query Count($id: ID!) { pin(id: $id) { likeCount } }";
}

function likesOf(
	{ graph }: World,
	actors: readonly Actor[],
): readonly { readonly actor: Actor; readonly pin: number }[] {
	const byUser = new Map(actors.map((actor) => [actor.user, actor]));
	const doomed = new Set(
		actors.flatMap(({ pins }) => pins.slice(0, pins.length >> 1)),
	);
	return graph.likes.flatMap(({ user, pin }) => {
		const actor = byUser.get(user + 1);
		return actor === undefined || doomed.has(pin + 1)
			? []
			: [{ actor, pin: pin + 1 }];
	});
}

function drawOperation(random: Random): Operation {
	let left = random.fraction() * 100;
	for (const [name, share] of Object.entries(SHARES)) {
		left -= share;
		if (left <= 0) return name as Operation;
	}
	return "getList";
}
