import { type Id, packId } from "../../src/id/ids.ts";
import type {
	Inverse,
	Mapping,
	MappingOrder,
	Model,
	ObjectType,
} from "../../src/model/types.ts";
import type { OpenedStorage as Port } from "../../src/storage/storage.ts";
import type { Topology } from "../../src/topology/types.ts";

/**
 * A model by hand, small enough to see: what storage needs of one, without the
 * SDL. Types and tables are the real ones.
 */
const PLACE_PIN = mapping("placePin", "board_has_pins", "Board", "Pin", {
	order: "POSITION",
	inverse: { kind: "reference", field: "board", key: "board_id" },
});
const LIKE_PIN = mapping("likePin", "user_likes_pins", "User", "Pin", {
	inverse: { kind: "target", mapping: "likePin.inverse" },
});
const PIN_LIKED = mapping(
	"likePin.inverse",
	"pin_liked_by_users",
	"Pin",
	"User",
	{ inverse: { kind: "source", mapping: "likePin" } },
);
const COMMENT_PIN = mapping(
	"commentPin",
	"pin_has_comments",
	"Pin",
	"Comment",
	{
		order: "OLDEST_FIRST",
		inverse: { kind: "reference", field: "pin", key: "pin_id" },
	},
);

export const MAPPINGS = {
	placePin: PLACE_PIN,
	likePin: LIKE_PIN,
	likedBy: PIN_LIKED,
	commentPin: COMMENT_PIN,
} as const;

const TYPES = [
	object("Pin", 1, "pins"),
	object("Board", 2, "boards"),
	object("User", 3, "users"),
	object("Comment", 4, "comments"),
];

export const MODEL: Model = {
	objects: new Map(TYPES.map((type) => [type.name, type])),
	objectsByNumber: new Map(TYPES.map((type) => [type.number, type])),
	mappings: new Map(
		Object.values(MAPPINGS).map((mapping) => [mapping.name, mapping]),
	),
	lookups: new Map(),
	sources: new Map(),
};

/** Four shards, of which 0 and 1 are open, and four mod shards, all in one place. */
export function topologyOn(primary: string): Topology {
	return {
		version: 1,
		shards: [
			{ range: [0, 1], primary, open: true },
			{ range: [2, 3], primary, open: false },
		],
		lookups: [{ range: [0, 3], primary }],
	};
}

export function pin(local: number, shard = 0): Id {
	return packId({ shard, type: 1, local });
}

export function board(local: number, shard = 0): Id {
	return packId({ shard, type: 2, local });
}

export function user(local: number, shard = 0): Id {
	return packId({ shard, type: 3, local });
}

export function comment(local: number, shard = 0): Id {
	return packId({ shard, type: 4, local });
}

function object(name: string, number: number, table: string): ObjectType {
	return {
		name,
		number,
		table,
		stored: [],
		references: [],
		lookups: [],
		mappings: Object.values(MAPPINGS).filter(({ from }) => from === name),
		derivedMappings: [],
		globalMappings: [],
		prefixMappings: [],
	};
}

function mapping(
	name: string,
	table: string,
	from: string,
	to: string,
	rest: { readonly order?: MappingOrder; readonly inverse: Inverse },
): Mapping {
	return {
		name,
		table,
		from,
		prefixKeys: null,
		to,
		field: name,
		order: "NEWEST_FIRST",
		...rest,
	};
}

/**
 * A storage of its own for one test: the model of this file,
 * its four shards and four mod shards made and empty. The shards and mod
 * shards in `dead` do not answer; those in `full` have one local id of type Pin
 * left.
 */
export type OpenStorage = (options?: {
	readonly dead?: readonly number[];
	readonly full?: readonly number[];
	/** As `MysqlLimits`. */
	readonly gatherMs?: number;
}) => Promise<OpenedStorage>;

export interface OpenedStorage extends AsyncDisposable {
	readonly storage: Port;
	/** Runs a statement on a shard past the storage, as an operator would. */
	change(shard: number, sql: string): Promise<void>;
}
