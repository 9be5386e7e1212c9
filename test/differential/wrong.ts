import { type ExecutionResult, GraphQLError } from "graphql";
import type { Execute } from "./operation.ts";

type Data = Record<string, unknown>;

/** Executors that get one thing wrong, each in a way a real one might. They answer null where there is nothing to get wrong. */
export const WRONG: Readonly<
	Record<string, (answer: ExecutionResult) => ExecutionResult | null>
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
	"leaves a page's last item out": (answer) => {
		const data = structuredClone(answer.data ?? {});
		const list = find(
			data,
			(value) => Array.isArray(value) && value.length > 0,
		);
		(list as unknown[] | undefined)?.pop();
		return list === undefined ? null : { ...answer, data };
	},
	"says null where there is a value": inObject((object) => {
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
	"forgets an error": withErrors(() => []),
};

export function made(wrong: (typeof WRONG)[string], right: Execute): Execute {
	return async (operation) => {
		const answer = await right(operation);
		return wrong(answer) ?? answer;
	};
}

/** Changes the first object of an answer that has so many keys. */
function inObject(
	change: (object: Data) => void,
	keys = 1,
): (answer: ExecutionResult) => ExecutionResult | null {
	return (answer) => {
		const data = structuredClone(answer.data ?? {});
		const object = find(
			data,
			(value) => !Array.isArray(value) && Object.keys(value).length >= keys,
		);
		if (object === undefined) return null;
		change(object as Data);
		return { ...answer, data };
	};
}

/** Changes the first error below a value. */
function withErrors(
	change: (error: {
		message: string;
		path: NonNullable<GraphQLError["path"]>;
		extensions: GraphQLError["extensions"];
	}) => readonly GraphQLError[],
): (answer: ExecutionResult) => ExecutionResult | null {
	return (answer) => {
		const [first, ...others] = answer.errors ?? [];
		if (first?.path === undefined) return null;
		const { message, path, extensions } = first;
		return {
			...answer,
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
