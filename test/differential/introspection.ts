import { argumentList } from "./arguments.ts";
import type { Draft, Position } from "./draft.ts";

const OF_SCHEMA = [
	"queryType { name }",
	"mutationType { __typename name }",
	"subscriptionType { name }",
	"directives { name locations args { name defaultValue } }",
	"types { kind name }",
];
const OF_TYPE = [
	"__typename",
	"name",
	"kind",
	"description",
	"fields(includeDeprecated: true) { name args { name type { name kind } } type { name kind ofType { name } } }",
	"interfaces { name }",
	"possibleTypes { name }",
	"inputFields { name defaultValue }",
	"enumValues { name }",
	"shape: ofType { name }",
];
const TYPES = ["User", "Node", "PinConnection", "DateTime", "Int", "Nothing"];

/** `__schema` or `__type`, which the plan leaves to graphql-js. */
export function introspection(draft: Draft, position: Position): string {
	const { random } = draft;
	const isType = random.chance(0.6);
	const name = isType ? "__type" : "__schema";
	const args = isType
		? argumentList(draft, [["name", "String!", random.pick(TYPES)]])
		: "";
	const selected = {
		parent: "Query",
		isObject: true,
		name,
		args,
		type: name,
	};
	const key = draft.key(position, selected);
	draft.select(position, { ...selected, key, below: position });
	const all = random.shuffled(isType ? OF_TYPE : OF_SCHEMA);
	const some = all.slice(0, random.integer(1, 4)).join(" ");
	return `${key === name ? "" : `${key}: `}${name}${args} { ${some} }`;
}
