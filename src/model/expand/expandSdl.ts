import { join } from "node:path";
import {
	type DefinitionNode,
	type DocumentNode,
	isTypeDefinitionNode,
	Kind,
	type ObjectTypeDefinitionNode,
	parse,
	Source,
} from "graphql";
import { readTextFileSync } from "../../util/textFile.ts";
import {
	type DescribeValues,
	expandMutations,
	type ReportProblem,
	type WithMutations,
} from "./expandMutations.ts";
import { complete, expandPages } from "./expandPages.ts";
import { referencedTypes } from "./referencedTypes.ts";

/** What every graph has. */
const BASE = readBase(join(import.meta.dirname, "../base.graphql"));

function readBase(path: string): DocumentNode {
	return parse(new Source(readTextFileSync(path), path));
}

/**
 * Completes SDL with what need not be written: the pages of its lists, the mutations
 * that it declares, and what every graph has. SDL that stores nothing stays as it is.
 */
export function expandSdl(
	document: DocumentNode,
	report: ReportProblem = () => {},
	describe: DescribeValues = () => null,
): WithMutations {
	const { document: expanded, mutations } = expandMutations(
		expandPages(document),
		describe,
		report,
	);
	const isStored = expanded.definitions.some(
		(one) =>
			isObject(one) &&
			one.directives?.some(({ name }) => name.value === "object"),
	);
	return { document: isStored ? withBase(expanded) : expanded, mutations };
}

/** A type that is written by hand gets only what it lacks. */
function withBase(document: DocumentNode): DocumentNode {
	const base = new Map(
		BASE.definitions
			.filter(isTypeDefinitionNode)
			.map((type) => [type.name.value, type]),
	);
	const written = document.definitions.map((definition): DefinitionNode => {
		if (!isTypeDefinitionNode(definition)) return definition;
		const { value } = definition.name;
		const whole = base.get(value);
		base.delete(value);
		return isObject(whole) && isObject(definition)
			? complete(definition, whole)
			: definition;
	});
	const types = referencedTypes(written);
	const lacking = BASE.definitions.filter((one) =>
		isTypeDefinitionNode(one)
			? base.has(one.name.value) && types.has(one.name.value)
			: one.kind === Kind.DIRECTIVE_DEFINITION &&
				isDirectiveLacking(written, one.name.value),
	);
	return { ...document, definitions: [...written, ...lacking] };
}

/** Whether a field has the directive, and the SDL does not define it. */
function isDirectiveLacking(
	definitions: readonly DefinitionNode[],
	name: string,
): boolean {
	return (
		definitions.some(
			(one) =>
				"fields" in one &&
				one.fields?.some(({ directives }) =>
					directives?.some((directive) => directive.name.value === name),
				),
		) &&
		!definitions.some(
			(one) =>
				one.kind === Kind.DIRECTIVE_DEFINITION && one.name.value === name,
		)
	);
}

function isObject(
	definition: DefinitionNode | undefined,
): definition is ObjectTypeDefinitionNode {
	return definition?.kind === Kind.OBJECT_TYPE_DEFINITION;
}
