import { isDeepStrictEqual } from "node:util";
import {
	type GraphQLInputField,
	type GraphQLNamedType,
	type GraphQLObjectType,
	getNamedType,
	isEnumType,
	isInputObjectType,
	isLeafType,
	isNonNullType,
	isObjectType,
} from "graphql";
import type { Corkboard } from "../app/openCorkboard.ts";
import { type Id, packId, unpackId } from "../id/ids.ts";
import type { TestGraph } from "./openTest.ts";

/** What was looked at, and what was wrong. */
export interface PrivacyWalk {
	/** Users of the graph, and one who is not signed in. */
	readonly viewers: number;
	/** Objects of the graph. */
	readonly objects: number;
	/** Pairs of a viewer and an object that it may not see. With none, nothing was tested. */
	readonly hidden: number;
	/** Mutations that were asked about hidden objects. */
	readonly mutations: readonly string[];
	/** A sentence for each leak. */
	readonly problems: readonly string[];
}

/** The number in the shard of an id that no test gives to an object. */
const NOBODY = 68_000_000_000;

/**
 * Asks as every user of the graph, and as nobody, for every object, and goes along
 * every field of those it may see. What `node` hides from a viewer must be in no other
 * answer, and every mutation that is given its id must answer as for an id that names
 * nothing. Mutations that take back what is the viewer's own (their payload says what
 * was removed or deleted) may know more, and are left out.
 */
export async function walkPrivacy({
	corkboard,
}: Pick<TestGraph, "corkboard">): Promise<PrivacyWalk> {
	const { model, app } = corkboard;
	const objects = await everyObject(corkboard);
	const users = objects.filter(({ type }) => type === app.identity.type);
	const viewers = [null, ...users.map(({ id }) => id)];
	const selections = new Map(
		[...model.objects.keys()].map((type) => [
			type,
			selectionOf(corkboard, type),
		]),
	);
	const mutations = mutationsOf(corkboard);
	const problems: string[] = [];
	let hidden = 0;
	for (const viewer of viewers) {
		const ask = (document: string, id: Id) =>
			corkboard.query(document, { viewer, variables: { id } });
		const unseen = new Map<Id, string>();
		const answers = new Map<Id, string>();
		for (const { id, type } of objects) {
			const answer = await ask(
				`query ($id: ID!) { node(id: $id) { id __typename ... on ${type} { ${selections.get(type)} } } }`,
				id,
			);
			if (answer.data == null) throw new Error(answer.errors?.[0]?.message);
			if (answer.data.node === null) unseen.set(id, type);
			else answers.set(id, JSON.stringify(answer));
		}
		const who = viewer === null ? "nobody" : `${app.identity.type} ${viewer}`;
		for (const [id, type] of unseen) {
			for (const [from, answer] of answers) {
				if (!answer.includes(`"${id}"`)) continue;
				problems.push(
					`${who} may not see the ${type} ${id}, and a field of ${from} shows it`,
				);
			}
			const nothing = packId({ ...unpackId(id), local: NOBODY });
			for (const { name, document } of mutations) {
				const about = JSON.stringify(await ask(document, id));
				const aboutNothing = JSON.stringify(await ask(document, nothing));
				const isSame = isDeepStrictEqual(
					about.replaceAll(id, "ID"),
					aboutNothing.replaceAll(nothing, "ID"),
				);
				if (isSame) continue;
				problems.push(
					`${who} may not see the ${type} ${id}, and ${name} does not answer as for an id that names nothing: ${about}, ${aboutNothing}`,
				);
			}
		}
		hidden += unseen.size;
	}
	return {
		viewers: viewers.length,
		objects: objects.length,
		hidden,
		mutations: mutations.map(({ name }) => name),
		problems,
	};
}

async function everyObject({
	storage,
	model,
}: Corkboard): Promise<readonly { readonly id: Id; readonly type: string }[]> {
	const found: { readonly id: Id; readonly type: string }[] = [];
	for (const shard of storage.map.shards) {
		for (const type of model.objects.keys()) {
			for await (const rows of storage.walk("objects", shard, type)) {
				found.push(...rows.map(({ id }) => ({ id, type })));
			}
		}
	}
	return found;
}

/** Every field of a type without required arguments; of objects that it leads to, the id. */
function selectionOf({ schema }: Corkboard, name: string): string {
	const type = schema.getType(name);
	return isObjectType(type) ? fieldsOf(type, 3) : "id";
}

function fieldsOf(type: GraphQLObjectType, depth: number): string {
	const fields = Object.values(type.getFields()).flatMap(
		({ name, args, type: of }) => {
			if (args.some((each) => isNonNullType(each.type))) return [];
			const named = getNamedType(of);
			// Each under a name of its own: types share a selection.
			const page = args.some((each) => each.name === "first");
			const alias = `${type.name}_${name}: ${name}${page ? "(first: 5)" : ""}`;
			if (isLeafType(named)) return name === "id" ? ["id"] : [alias];
			const below = belowOf(named, depth);
			return below === null ? [] : [`${alias} { ${below} }`];
		},
	);
	return fields.join(" ");
}

function belowOf(type: GraphQLNamedType, depth: number): string | null {
	if (!isObjectType(type)) return "__typename";
	if (isNode(type)) return "id";
	return depth === 0 ? null : fieldsOf(type, depth - 1) || "__typename";
}

function isNode(type: GraphQLObjectType): boolean {
	return type.getInterfaces().some(({ name }) => name === "Node");
}

interface AskedMutation {
	/** `mutation.field` */
	readonly name: string;
	readonly document: string;
}

/** Each mutation with each field of its input that takes an id. */
function mutationsOf({ schema }: Corkboard): readonly AskedMutation[] {
	const fields = Object.values(schema.getMutationType()?.getFields() ?? {});
	return fields.flatMap(({ name, args, type }) => {
		const payload = getNamedType(type);
		if (!isObjectType(payload)) return [];
		const isTakenBack = Object.keys(payload.getFields()).some((field) =>
			/^(?:removed|deleted)\w+Id$/.test(field),
		);
		const input = getNamedType(
			args.find((each) => each.name === "input")?.type,
		);
		if (isTakenBack || !isInputObjectType(input)) return [];
		const inputs = Object.values(input.getFields());
		return inputs.filter(isId).map((asked) => {
			const given = inputs.flatMap((field) =>
				field === asked || isNonNullType(field.type)
					? [`${field.name}: ${sample(field)}`]
					: [],
			);
			return {
				name: `${name}.${asked.name}`,
				document: `mutation ($id: ID!) { ${name}(input: {${given.join(", ")}}) { __typename } }`,
			};
		});
	});
}

function isId({ type }: GraphQLInputField): boolean {
	return getNamedType(type).name === "ID";
}

function sample(field: GraphQLInputField): string {
	if (isId(field)) return "$id";
	const type = getNamedType(field.type);
	if (isEnumType(type)) return type.getValues()[0]?.name ?? "null";
	if (type.name === "Boolean") return "true";
	if (type.name === "Int" || type.name === "Float") return "1";
	return '"x"';
}
