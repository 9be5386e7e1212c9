import {
	buildASTSchema,
	type DefinitionNode,
	type DocumentNode,
	GraphQLSchema,
	isInterfaceType,
	isTypeDefinitionNode,
	Kind,
	lexicographicSortSchema,
	printSchema,
	visit,
} from "graphql";
import { type Id, unpackId } from "../id/ids.ts";
import { isStorageDirective } from "./directives.ts";
import { referencedTypes } from "./sdl.ts";
import type { Model } from "./types.ts";

const WHOLE = "whole";
/** What stands in the file of this name is stored and not shown. */
const HIDDEN = /(?:^|[\\/])internal\.graphql$/;

/**
 * The schema clients see: the SDL without what is internal, the storage
 * directives and the types that only these use.
 */
export function buildPublicSchema(
	document: DocumentNode,
	model: Model,
): GraphQLSchema {
	// Checked whole, and with places, when the model was read.
	const checked = { assumeValid: false, assumeValidSDL: true };
	const schema = buildASTSchema(withoutStorage(shown(document)), checked);
	schema.extensions = {
		[WHOLE]: buildASTSchema(withoutStorage(document), checked),
	};
	const node = schema.getType("Node");
	if (isInterfaceType(node)) {
		node.resolveType = ({ id }: { readonly id: Id }) =>
			model.objectsByNumber.get(unpackId(id).type)?.name;
	}
	return schema;
}

/** With the fields of objects that are stored and not shown, which imports may give. */
export function fullSchema(schema: GraphQLSchema): GraphQLSchema {
	const whole = schema.extensions[WHOLE];
	return whole instanceof GraphQLSchema ? whole : schema;
}

/** As `schema print --public` shows it: sorted, so that moving a type changes nothing. */
export function printPublicSchema(schema: GraphQLSchema): string {
	return `${printSchema(lexicographicSortSchema(schema))}\n`;
}

function shown(document: DocumentNode): DocumentNode {
	return {
		...document,
		definitions: document.definitions.filter(
			({ loc }) => !HIDDEN.test(loc?.source.name ?? ""),
		),
	};
}

function withoutStorage(document: DocumentNode): DocumentNode {
	const isStorage = (definition: DefinitionNode) =>
		definition.kind === Kind.DIRECTIVE_DEFINITION &&
		isStorageDirective(definition.name.value);
	const definitions = document.definitions.filter((each) => !isStorage(each));
	const ofStorage = referencedTypes(document.definitions.filter(isStorage));
	const ofClients = referencedTypes(definitions);
	return visit(
		{ ...document, definitions },
		{
			enter(node) {
				const isDropped = isTypeDefinitionNode(node)
					? ofStorage.has(node.name.value) && !ofClients.has(node.name.value)
					: node.kind === Kind.DIRECTIVE && isStorageDirective(node.name.value);
				return isDropped ? null : undefined;
			},
		},
	);
}
