import {
	buildASTSchema,
	concatAST,
	GraphQLError,
	type GraphQLSchema,
	parse,
	Source,
} from "graphql";
import { CorkboardError } from "../errors.ts";
import { publicDocument } from "./publicSchema.ts";
import type { SdlFile } from "./sdl.ts";

/** The schema that clients see, of SDL with or without storage directives. Throws BAD_DATA, naming `source`. */
export function readPublicSdl(
	source: string,
	files: readonly SdlFile[],
): GraphQLSchema {
	try {
		const documents = files.map(({ path, text }) =>
			parse(new Source(text, path)),
		);
		const schema = buildASTSchema(publicDocument(concatAST(documents)), {
			assumeValidSDL: true,
		});
		if (schema.getQueryType()) return schema;
	} catch (cause) {
		throw new CorkboardError(
			"BAD_DATA",
			`${source} is no schema: ${whereOf(cause)}${cause instanceof Error ? cause.message : cause}`,
			{ cause },
		);
	}
	throw new CorkboardError(
		"BAD_DATA",
		`${source} is no schema: it has no type Query.`,
	);
}

function whereOf(cause: unknown): string {
	if (!(cause instanceof GraphQLError)) return "";
	const { source, locations } = cause;
	const [at] = locations ?? [];
	return source && at ? `${source.name}:${at.line}:${at.column}: ` : "";
}
