import { type ExecutionResult, GraphQLError } from "graphql";
import type { Execute } from "./operation.ts";

type Data = Record<string, unknown>;

/** Each makes one mistake that a real executor might make. Null for a response without room for the mistake. */
export const MUTANTS: Readonly<
	Record<string, (response: ExecutionResult) => ExecutionResult | null>
> = {
	"drops a key": inObject((object) => {
		delete object[Object.keys(object).at(-1) as string];
	}),
	"swaps two keys": inObject((object) => {
		const [first, ...others] = Object.entries(object);
		for (const key of Object.keys(object)) delete object[key];
		for (const [key, value] of [...others, first as [string, unknown]]) {
			object[key] = value;
		}
	}, 2),
	"omits the last item of a page": (response) => {
		const data = structuredClone(response.data ?? {});
		const list = find(
			data,
			(value) => Array.isArray(value) && value.length > 0,
		);
		(list as unknown[] | undefined)?.pop();
		return list === undefined ? null : { ...response, data };
	},
	"returns null for a value": inObject((object) => {
		const key = Object.keys(object).find((each) => object[each] !== null);
		if (key !== undefined) object[key] = null;
	}),
	"changes an error's code": withErrors(({ message, path }) => [
		new GraphQLError(message, { path, extensions: { code: "CONFLICT" } }),
	]),
	"moves an error to another path": withErrors(
		({ message, path, extensions }) => [
			new GraphQLError(message, { path: [...(path ?? []), 0], extensions }),
		],
	),
	"omits an error": withErrors(() => []),
};

export function mutate(
	mutant: (typeof MUTANTS)[string],
	executor: Execute,
): Execute {
	return async (operation) => {
		const response = await executor(operation);
		return mutant(response) ?? response;
	};
}

/** Changes the first object with at least `keys` keys. */
function inObject(
	change: (object: Data) => void,
	keys = 1,
): (response: ExecutionResult) => ExecutionResult | null {
	return (response) => {
		const data = structuredClone(response.data ?? {});
		const object = find(
			data,
			(value) => !Array.isArray(value) && Object.keys(value).length >= keys,
		);
		if (object === undefined) return null;
		change(object as Data);
		return { ...response, data };
	};
}

/** Replaces the first error that has a path. */
function withErrors(
	change: (error: {
		message: string;
		path: NonNullable<GraphQLError["path"]>;
		extensions: GraphQLError["extensions"];
	}) => readonly GraphQLError[],
): (response: ExecutionResult) => ExecutionResult | null {
	return (response) => {
		const [first, ...others] = response.errors ?? [];
		if (first?.path === undefined) return null;
		const { message, path, extensions } = first;
		return {
			...response,
			errors: [...change({ message, path, extensions }), ...others],
		};
	};
}

function find(
	value: unknown,
	fits: (value: object) => boolean,
): object | undefined {
	if (typeof value !== "object" || value === null) return undefined;
	if (fits(value)) return value;
	for (const each of Object.values(value)) {
		const found = find(each, fits);
		if (found !== undefined) return found;
	}
	return undefined;
}
