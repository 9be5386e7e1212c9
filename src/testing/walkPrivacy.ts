import { isDeepStrictEqual } from "node:util";
import {
	type GraphQLInputField,
	getNamedType,
	getNullableType,
	isEnumType,
	isInputObjectType,
	isListType,
	isNonNullType,
	isObjectType,
} from "graphql";
import type { Corkboard } from "../app/openCorkboard.ts";
import { type Id, packId, unpackId } from "../id/ids.ts";
import { DATE_TIME_EXAMPLE } from "../model/dateTime.ts";
import { everyObject, selectionOf } from "./everyObject.ts";
import { keysRead } from "./keysRead.ts";
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

export interface PrivacyWalkOptions {
	/**
	 * Mutations that may know what a visitor who is not signed in sees, though the
	 * viewer does not: somebody who is blocked may block in turn.
	 */
	readonly asVisitor?: readonly string[];
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
export async function walkPrivacy(
	{ corkboard }: Pick<TestGraph, "corkboard">,
	{ asVisitor = [] }: PrivacyWalkOptions = {},
): Promise<PrivacyWalk> {
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
	const problems = undecided(corkboard);
	/** What nobody, the first viewer, sees. */
	let visible: ReadonlySet<Id> | undefined;
	let hidden = 0;
	for (const viewer of viewers) {
		const ask = (document: string, id: Id) =>
			corkboard.query(document, { viewer, variables: { id } });
		const unseen = new Map<Id, string>();
		const answers = new Map<Id, string>();
		for (const { id, type } of objects) {
			const answer = await ask(
				`query ($id: ID!) { node(id: $id) { id __typename ${selections.get(type)} } }`,
				id,
			);
			if (answer.data == null) throw new Error(answer.errors?.[0]?.message);
			if (answer.data.node === null) unseen.set(id, type);
			else answers.set(id, JSON.stringify(answer));
		}
		visible ??= new Set(answers.keys());
		const who = viewer === null ? "nobody" : `${app.identity.type} ${viewer}`;
		for (const [id, type] of unseen) {
			for (const [from, answer] of answers) {
				if (!answer.includes(`"${id}"`)) continue;
				problems.push(
					`${who} may not see the ${type} ${id}, and a field of ${from} shows it`,
				);
			}
			const nothing = packId({ ...unpackId(id), local: NOBODY });
			for (const { name, field, document } of mutations) {
				if (visible.has(id) && asVisitor.includes(field)) continue;
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

/** Fields that decide who sees an object, and that the policy does not name: a change of one would be acknowledged before other processes know of it. */
function undecided({ model, app }: Corkboard): string[] {
	const types = Object.entries(app.policies.visibility?.types ?? {});
	return types.flatMap(([type, { isVisible, decidedBy = [] }]) => {
		if (isVisible === undefined) return [];
		const read = keysRead(type, isVisible);
		return (model.objects.get(type)?.stored ?? [])
			.filter(({ field, key }) => read.has(key) && !decidedBy.includes(field))
			.map(
				({ field }) =>
					`isVisible of ${type} reads ${field}, which decidedBy does not name`,
			);
	});
}

interface AskedMutation {
	/** `mutation.field` */
	readonly name: string;
	/** The mutation. */
	readonly field: string;
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
				field: name,
				document: `mutation ($id: ID!) { ${name}(input: {${given.join(", ")}}) { __typename } }`,
			};
		});
	});
}

function isId({ type }: GraphQLInputField): boolean {
	return getNamedType(type).name === "ID";
}

function sample(field: GraphQLInputField): string {
	if (isListType(getNullableType(field.type))) {
		return isId(field) ? "[$id]" : "[]";
	}
	if (isId(field)) return "$id";
	const type = getNamedType(field.type);
	if (isInputObjectType(type)) {
		const all = Object.values(type.getFields());
		const given = type.isOneOf
			? all.slice(0, 1)
			: all.filter((one) => isNonNullType(one.type));
		return `{${given.map((one) => `${one.name}: ${sample(one)}`).join(", ")}}`;
	}
	if (isEnumType(type)) return type.getValues()[0]?.name ?? "null";
	if (type.name === "Boolean") return "true";
	if (type.name === "Int" || type.name === "Float") return "1";
	if (type.name === "DateTime") return JSON.stringify(DATE_TIME_EXAMPLE);
	return '"x"';
}
