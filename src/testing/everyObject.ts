import {
	type GraphQLNamedType,
	type GraphQLObjectType,
	getNamedType,
	isLeafType,
	isNonNullType,
	isObjectType,
} from "graphql";
import type { Corkboard } from "../app/openCorkboard.ts";
import type { Id } from "../id/ids.ts";

export interface FoundObject {
	readonly id: Id;
	readonly type: string;
}

/** All objects of a graph, hidden ones too. */
export async function everyObject({
	storage,
	model,
}: Corkboard): Promise<readonly FoundObject[]> {
	const found: FoundObject[] = [];
	for (const shard of storage.map.shards) {
		for (const type of model.objects.keys()) {
			for await (const rows of storage.walk("objects", shard, type)) {
				found.push(...rows.map(({ id }) => ({ id, type })));
			}
		}
	}
	return found;
}

/** A fragment with every field of a type without required arguments; of objects that it leads to, the id. Empty for a type that clients do not see. */
export function selectionOf(
	{ schema }: Corkboard,
	name: string,
	/** Fields, as `Type.field`, to leave out. */
	without: ReadonlySet<string> = new Set(),
): string {
	const type = schema.getType(name);
	return isObjectType(type)
		? `... on ${name} { ${fieldsOf(type, 3, without)} }`
		: "";
}

function fieldsOf(
	type: GraphQLObjectType,
	depth: number,
	without: ReadonlySet<string>,
): string {
	const fields = Object.values(type.getFields()).flatMap(
		({ name, args, type: of }) => {
			if (without.has(`${type.name}.${name}`)) return [];
			if (args.some((each) => isNonNullType(each.type))) return [];
			const named = getNamedType(of);
			const page = args.some((each) => each.name === "first");
			const field = `${name}${page ? "(first: 5)" : ""}`;
			if (isLeafType(named)) return [field];
			const below = belowOf(named, depth, without);
			return below === null ? [] : [`${field} { ${below} }`];
		},
	);
	return fields.join(" ");
}

function belowOf(
	type: GraphQLNamedType,
	depth: number,
	without: ReadonlySet<string>,
): string | null {
	if (!isObjectType(type)) return "__typename";
	if (isNode(type)) return "id";
	return depth === 0
		? null
		: fieldsOf(type, depth - 1, without) || "__typename";
}

function isNode(type: GraphQLObjectType): boolean {
	return type.getInterfaces().some(({ name }) => name === "Node");
}
