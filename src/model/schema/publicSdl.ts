import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import {
	buildASTSchema,
	concatAST,
	GraphQLError,
	type GraphQLSchema,
	parse,
	Source,
} from "graphql";
import { CorkboardError } from "../../errors.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import {
	readTextFile,
	readTextStream,
	whyUnread,
} from "../../util/textFile.ts";
import { expandSdl } from "../expand/expandSdl.ts";
import { publicDocument } from "../publicSchema.ts";
import type { SdlFile } from "../sdl.ts";

/** The schema that clients see, of SDL with or without storage directives. Throws BAD_DATA, naming `source`. */
function readPublicSdl(
	source: string,
	files: readonly SdlFile[],
): GraphQLSchema {
	try {
		const documents = files.map(({ path, text }) =>
			parse(new Source(text, path)),
		);
		const schema = buildASTSchema(
			publicDocument(expandSdl(concatAST(documents)).document),
			{ assumeValidSDL: true },
		);
		if (schema.getQueryType()) return schema;
	} catch (cause) {
		throw new CorkboardError(
			"BAD_DATA",
			`${source} is no schema: ${whereOf(cause)}${reasonOf(cause)}`,
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

/**
 * The schema that clients see, of an SDL file, a folder such as `schema/`, or
 * `-` for standard input. Throws BAD_DATA.
 */
export async function readSchema(
	path: string,
	stdin: Readable,
): Promise<GraphQLSchema> {
	return readPublicSdl(path, await filesOf(path, stdin));
}

async function filesOf(
	path: string,
	stdin: Readable,
): Promise<readonly SdlFile[]> {
	try {
		if (path === "-") {
			return [{ path, text: await readTextStream(stdin, "standard input") }];
		}
		if (!(await stat(path)).isDirectory()) {
			return [{ path, text: await readTextFile(path) }];
		}
		const names = await readdir(path);
		return await Promise.all(
			names
				.filter((name) => /\.graphqls?$/.test(name))
				.toSorted()
				.map(async (name) => {
					const file = join(path, name);
					return { path: file, text: await readTextFile(file) };
				}),
		);
	} catch (cause) {
		throw new CorkboardError(
			"BAD_DATA",
			`Cannot read ${path}: ${whyUnread(cause)}.`,
			{ cause },
		);
	}
}
