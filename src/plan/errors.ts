import { type ASTNode, GraphQLError } from "graphql";
import { asClientError, isClientCode } from "../errors.ts";

/** An error at a position of the response. `originalError` is for the log only. */
export function fieldError(
	thrown: unknown,
	nodes: readonly ASTNode[],
	path: readonly (string | number)[],
): GraphQLError {
	if (thrown instanceof GraphQLError && hasClientCode(thrown)) {
		return new GraphQLError(thrown.message, {
			nodes: thrown.nodes ?? nodes,
			path,
			originalError: thrown.originalError ?? thrown,
			extensions: thrown.extensions,
		});
	}
	return requestError(thrown, { nodes, path });
}

/** An error of the whole request, or of the position that `where` names. */
export function requestError(
	thrown: unknown,
	where: {
		readonly nodes?: readonly ASTNode[];
		readonly path?: readonly (string | number)[];
		readonly extensions?: Readonly<Record<string, unknown>>;
	} = {},
): GraphQLError {
	const originalError = asClientError(thrown);
	return new GraphQLError(originalError.message, {
		...where,
		originalError,
		extensions: {
			code: originalError.code,
			...(originalError.fields && { fields: originalError.fields }),
			...where.extensions,
		},
	});
}

/** An error about what the client sent. The messages of graphql-js are fit for clients and lack only the code. */
export function inputError(thrown: unknown): GraphQLError {
	if (!(thrown instanceof GraphQLError)) return requestError(thrown);
	return new GraphQLError(thrown.message, {
		...(thrown.nodes ? { nodes: thrown.nodes } : {}),
		...(thrown.path ? { path: thrown.path } : {}),
		originalError: thrown.originalError ?? thrown,
		extensions: { code: "BAD_USER_INPUT" },
	});
}

function hasClientCode({ extensions }: GraphQLError): boolean {
	const { code } = extensions;
	return typeof code === "string" && isClientCode(code);
}
