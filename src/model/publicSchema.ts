import {
	type ASTNode,
	buildASTSchema,
	type DefinitionNode,
	type DocumentNode,
	type GraphQLSchema,
	isInterfaceType,
	isObjectType,
	isTypeDefinitionNode,
	Kind,
	lexicographicSortSchema,
	parse,
	print,
	printSchema,
	visit,
} from "graphql";
import { type Id, unpackId } from "../id/ids.ts";
import { isStorageDirective } from "./directives.ts";
import { isInternal as isInternalAt } from "./expand/expandPages.ts";
import { referencedTypes } from "./expand/referencedTypes.ts";
import { semanticNonNullOf } from "./semanticNonNull.ts";
import type { Model } from "./types.ts";

const FULL = "full";

/**
 * The schema that clients see: the SDL without the internal file, the storage
 * directives, and the types that only those directives use.
 */
export function buildPublicSchema(
	document: DocumentNode,
	model: Model,
): GraphQLSchema {
	// readModel checked the SDL already and reported problems with their lines.
	const checked = { assumeValid: false, assumeValidSDL: true };
	const schema = buildASTSchema(publicDocument(document), checked);
	let full: GraphQLSchema | undefined;
	schema.extensions = {
		// Most processes need only what is public, and start sooner without the rest.
		[FULL]() {
			full ??= buildASTSchema(withoutStorage(document), checked);
			return full;
		},
	};
	const node = schema.getType("Node");
	if (isInterfaceType(node)) {
		node.resolveType = ({ id }: { readonly id: Id }) =>
			model.objectsByNumber.get(unpackId(id).type)?.name;
	}
	return schema;
}

/** SDL as clients see it, of files as in `schema/` or of SDL that is public already. */
export function publicDocument(document: DocumentNode): DocumentNode {
	return withoutStorage(publicPart(document));
}

/** The schema with the fields that are stored but not public. Imports may set them. */
export function fullSchema(schema: GraphQLSchema): GraphQLSchema {
	const full = schema.extensions[FULL];
	return typeof full === "function" ? full() : schema;
}

/**
 * The schema as `schema print --public` shows it: sorted, so that moving a type changes
 * nothing, and with `@semanticNonNull`, which introspection cannot show.
 */
export function printPublicSchema(schema: GraphQLSchema): string {
	const text = printSchema(lexicographicSortSchema(schema));
	let annotated = "";
	let end = 0;
	visit(parse(text), {
		FieldDefinition({ name, loc }, _key, _parent, _path, ancestors) {
			const type = ancestors.findLast((one) => "kind" in one);
			if (type?.kind !== Kind.OBJECT_TYPE_DEFINITION || !loc) return;
			const shown = schema.getType(type.name.value);
			if (!isObjectType(shown)) return;
			const field = shown.getFields()[name.value];
			const directive = semanticNonNullOf(field?.astNode);
			if (directive === undefined) return;
			annotated += `${text.slice(end, loc.end)} ${print(directive)}`;
			end = loc.end;
		},
	});
	return `${annotated}${text.slice(end)}\n`;
}

function publicPart(document: DocumentNode): DocumentNode {
	return {
		...document,
		definitions: document.definitions.filter((node) => !isInternal(node)),
	};
}

/** Whether clients do not see what is defined there. */
export function isInternal(node: ASTNode | null | undefined): boolean {
	return isInternalAt(node?.loc);
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
