import { type GraphQLSchema, getNamedType, isInputObjectType } from "graphql";
import { CorkboardError } from "../errors.ts";
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
