import {
	type GraphQLSchema,
	getNamedType,
	getNullableType,
	isInputObjectType,
	isObjectType,
} from "graphql";
import { CorkboardError } from "../errors.ts";
import type { Model } from "../model/types.ts";
import { didYouMean } from "../util/nearest.ts";
import type { InputTypes, Resolvers } from "./batchResolver.ts";

/** Throws BAD_MODEL for a mutation that reads other fields of its input than the SDL has. */
export function checkInputs(
	schema: GraphQLSchema,
	types: InputTypes,
	resolvers: Resolvers,
): void {
	const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
	for (const { name, args } of mutations) {
		const read = resolvers.get(`Mutation.${name}`)?.inputFields?.(types);
		const input = getNamedType(args.find((one) => one.name === "input")?.type);
		if (read === undefined || !isInputObjectType(input)) continue;
		const has = Object.keys(input.getFields());
		const unknown = read.find((field) => !has.includes(field));
		const unread = has.find((field) => !read.includes(field));
		if (unknown === undefined && unread === undefined) continue;
		throw new CorkboardError(
			"BAD_MODEL",
			unknown === undefined
				? `The resolver of Mutation.${name} does not read ${unread}, which ${input.name} has.`
				: `The resolver of Mutation.${name} reads ${unknown}, which ${input.name} does not have.${didYouMean(unknown, has)}`,
		);
	}
}

/** Throws BAD_MODEL for a field that finds an object by a natural key of several parts, and does not take each of them. */
export function checkKeyInputs(
	schema: GraphQLSchema,
	model: Model,
	resolvers: Resolvers,
): void {
	const query = schema.getQueryType()?.getFields() ?? {};
	for (const [path, { uses }] of resolvers) {
		const { name, type, parts } = model.lookups.get(uses?.lookup ?? "") ?? {};
		if (name === undefined || !parts || parts.length === 1) continue;
		const field = query[path.slice("Query.".length)];
		const by = getNamedType(field?.args.find((arg) => arg.name === "by")?.type);
		const taken = isInputObjectType(by) ? by.getFields()[name] : undefined;
		const input = getNamedType(taken?.type);
		const fields = isInputObjectType(input) ? input.getFields() : {};
		const stored = schema.getType(type ?? "");
		const declared = isObjectType(stored) ? stored.getFields() : {};
		const wanted = parts.map((part) => {
			const typed = declared[part.field]?.type;
			const value = part.isReference ? "ID" : getNullableType(typed);
			return `${part.field}: ${value ?? "String"}!`;
		});
		const got = Object.values(fields).map((one) => `${one.name}: ${one.type}`);
		if (got.toSorted().join() === wanted.toSorted().join()) continue;
		throw new CorkboardError(
			"BAD_MODEL",
			`The resolver of ${path} finds by the parts of the lookup ${name}: ${name} in its argument by must be an input with ${wanted.join(", ")}, got ${got.length > 0 ? got.join(", ") : (taken?.type ?? "none")}.`,
		);
	}
}
