import { seededRandom } from "../../src/util/random.ts";
import { signToken, spellRequest } from "../requests.ts";
import type { VariantName } from "../variants.ts";
import type { World } from "../world.ts";

const ACTORS = 64;

/** Users who write, by their numbers in the relational schema. */
export interface Actor {
	readonly user: number;
	readonly board: number;
	/** On their boards. */
	readonly pins: readonly number[];
}

export function actorsOf({ graph, options }: World): readonly Actor[] {
	const random = seededRandom(options.seed + 2);
	const boards = new Map<number, number>();
	for (const [n, { owner }] of graph.boards.entries()) {
		// Not the longest board: the first one.
		if (n > 0 && !boards.has(owner)) boards.set(owner, n);
	}
	const owners = new Map([...boards].map(([owner, board]) => [board, owner]));
	const pins = new Map<number, number[]>();
	for (const [n, { board }] of graph.pins.entries()) {
		const owner = owners.get(board);
		if (owner !== undefined) {
			pins.set(owner, [...(pins.get(owner) ?? []), n + 1]);
		}
	}
	return random
		.shuffled([...boards])
		.filter(([owner]) => (pins.get(owner)?.length ?? 0) > 0)
		.slice(0, ACTORS)
		.map(([owner, board]) => ({
			user: owner + 1,
			board: board + 1,
			pins: pins.get(owner) ?? [],
		}));
}

/** Spells operations of signed-in users for one variant. */
export class ActorRequests {
	readonly #world: World;
	readonly #variant: VariantName;
	readonly #tokens = new Map<number, string>();

	private constructor(world: World, variant: VariantName) {
		this.#world = world;
		this.#variant = variant;
	}

	static async of(
		world: World,
		variant: VariantName,
		actors: readonly Actor[],
	): Promise<ActorRequests> {
		const requests = new ActorRequests(world, variant);
		for (const { user } of actors) {
			const id = world.idOf(variant, `u:${user}`);
			requests.#tokens.set(user, await signToken(id));
		}
		return requests;
	}

	id(key: string): string {
		return this.#world.idOf(this.#variant, key);
	}

	spell(
		actor: Actor,
		text: string,
		variables: Readonly<Record<string, unknown>>,
	): string {
		const token = this.#tokens.get(actor.user);
		if (token === undefined) throw new Error("An actor without a token.");
		return spellRequest({ text, variables }, "text", { token });
	}
}

export const MUTATIONS = {
	createPin:
		"mutation CreatePin($input: CreatePinInput!) { createPin(input: $input) { pin { id } } }",
	updatePin:
		"mutation UpdatePin($input: UpdatePinInput!) { updatePin(input: $input) { pin { id } } }",
	deletePin:
		"mutation DeletePin($input: DeletePinInput!) { deletePin(input: $input) { deletedPinId } }",
	likePin:
		"mutation LikePin($input: LikePinInput!) { likePin(input: $input) { pin { id } } }",
	unlikePin:
		"mutation UnlikePin($input: UnlikePinInput!) { unlikePin(input: $input) { pin { id } } }",
	followUser:
		"mutation FollowUser($input: FollowUserInput!) { followUser(input: $input) { user { id } } }",
} as const;
