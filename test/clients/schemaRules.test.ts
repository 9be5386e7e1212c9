// Runs in a process of its own: graphql-eslint keeps the first configuration that a process gives it, and docs.test.ts has another.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import plugin from "@graphql-eslint/eslint-plugin";
import { CriticalityLevel, diff, validate } from "@graphql-inspector/core";
import { Linter } from "eslint";
import {
	buildASTSchema,
	buildSchema,
	type GraphQLSchema,
	Kind,
	type Location,
	parse,
	Source,
	visit,
} from "graphql";
import { compileArtifacts } from "../examples/artifacts.ts";
import { COPIES } from "../update.ts";
import { CLIENTS, filesOf } from "./pasted.ts";

const SDL = readFileSync(COPIES.publicSchema, "utf8");

/** What graphql-eslint has for schemas, with the choices that it leaves to a schema. */
const RULES: Linter.RulesRecord = {
	...plugin.configs["flat/schema-recommended"].rules,
	...plugin.configs["flat/schema-relay"].rules,
	"@graphql-eslint/input-name": "error",
	"@graphql-eslint/no-scalar-result-type-on-mutation": "error",
	"@graphql-eslint/require-description": [
		"error",
		{
			types: true,
			rootField: true,
			FieldDefinition: true,
			InputValueDefinition: true,
			EnumValueDefinition: true,
			DirectiveDefinition: true,
		},
	],
	// Every type is one of these, or an object with an id.
	"@graphql-eslint/strict-id-in-types": [
		"error",
		{
			exceptions: {
				types: [
					"HomeFeedReason",
					"Image",
					"PageInfo",
					"PinSaves",
					"PopularInterests",
					"RelatedPins",
					"UserMatches",
				],
				suffixes: ["Connection", "Edge", "Payload"],
			},
		},
	],
};

/** The only findings: a rule, and the fields that it is about. */
const EXCEPTIONS: readonly {
	readonly rule: string;
	readonly field: RegExp;
	readonly why: string;
}[] = [
	{
		rule: "relay-edge-types",
		field:
			/^(Query|PinSaves|PopularInterests|RelatedPins|UserMatches|\w+Connection)\.nodes$/,
		why: "GitHub's and Shopify's schemas have them: a connection's nodes without their cursors, and objects by their ids; a few objects that take no pages",
	},
	{
		rule: "relay-edge-types",
		field: /^(MovePinsPayload\.pins|DeletePinsPayload\.deletedPinIds)$/,
		why: "at most as many as the input names: they take no pages",
	},
	{
		rule: "no-typename-prefix",
		field: /^User\.username$/,
		why: "a word of its own, not the name of a user",
	},
];

interface Finding {
	readonly rule: string;
	/** `Type.field`, or the type alone. */
	readonly field: string;
	readonly message: string;
}

function isListed({ rule, field }: Finding): boolean {
	return EXCEPTIONS.some(
		(exception) => exception.rule === rule && exception.field.test(field),
	);
}

function lint(sdl: string): readonly Finding[] {
	const { definitions } = parse(sdl);
	const coordinate = (line: number) => {
		const isThere = ({ loc }: { readonly loc?: Location | undefined }) =>
			loc !== undefined &&
			loc.startToken.line <= line &&
			line <= loc.endToken.line;
		const type = definitions.find(isThere);
		const field =
			type && "fields" in type ? type.fields?.find(isThere) : undefined;
		return [type, field]
			.flatMap((node) =>
				node && "name" in node && node.name ? [node.name.value] : [],
			)
			.join(".");
	};
	return new Linter({ configType: "flat" })
		.verify(
			sdl,
			{
				files: ["**/*.graphql"],
				plugins: { "@graphql-eslint": plugin as never },
				languageOptions: {
					parser: plugin.parser as never,
					parserOptions: { graphQLConfig: { schema: sdl } },
				},
				rules: RULES,
			},
			{ filename: "public.graphql" },
		)
		.map(({ ruleId, line, message }) => ({
			rule: (ruleId ?? "").replace("@graphql-eslint/", ""),
			field: coordinate(line),
			message,
		}));
}

/** The operations that our clients send, in files named after their source. */
function documents(): readonly Source[] {
	const artifacts = compileArtifacts();
	const compiled = readdirSync(artifacts).flatMap((name) => {
		const [, text] =
			/^ {4}"text": (".*")$/m.exec(
				readFileSync(join(artifacts, name), "utf8"),
			) ?? [];
		return text === undefined
			? []
			: [new Source(JSON.parse(text) as string, name)];
	});
	// Relay's fragments take arguments, which its compiler replaces.
	const copied = ["shared", ...CLIENTS.filter((name) => name !== "relay")]
		.flatMap((folder) => filesOf(folder).map((file) => ({ folder, ...file })))
		.flatMap(({ folder, path, text }) =>
			[...text.matchAll(/`(\s*(?:query|mutation)\b[^`]*)`/g)].map(
				([, document = ""]) => new Source(document, `${folder}/${path}`),
			),
		);
	return [...compiled, ...copied];
}

/** The schema without one field of a type. */
function without(typeName: string, fieldName: string): GraphQLSchema {
	let isInside = false;
	const less = visit(parse(SDL), {
		enter(node) {
			if (node.kind === Kind.OBJECT_TYPE_DEFINITION) {
				isInside = node.name.value === typeName;
			}
			if (node.kind !== Kind.FIELD_DEFINITION) return undefined;
			return isInside && node.name.value === fieldName ? null : undefined;
		},
	});
	return buildASTSchema(less);
}

describe("the public schema", () => {
	it("passes the rules of graphql-eslint, those for Relay too, but for the listed exceptions", () => {
		const findings = lint(SDL);
		assert.deepEqual(
			findings.filter((finding) => !isListed(finding)),
			[],
		);
		for (const { rule, field } of EXCEPTIONS) {
			assert.ok(
				findings.some(
					(finding) => finding.rule === rule && field.test(finding.field),
				),
				`no exception to ${rule} is needed any more`,
			);
		}
		// Each field named nodes is one.
		assert.deepEqual(
			findings
				.filter(({ rule }) => rule.startsWith("relay-"))
				.map(({ field }) => field)
				.filter((field) => field.endsWith(".nodes"))
				.toSorted(),
			[
				"Query",
				"PinSaves",
				"PopularInterests",
				"RelatedPins",
				"UserMatches",
				...[...SDL.matchAll(/^type (\w+Connection) /gm)].map(
					([, name]) => name,
				),
			]
				.map((name) => `${name}.nodes`)
				.toSorted(),
		);
	});

	it("fails the rules for Relay where a connection is none", () => {
		const broken = SDL.replace(
			/(type PinConnection \{[\s\S]*?)pageInfo: PageInfo!/,
			"$1pageInfo: PageInfo",
		)
			.replace(
				/(type PinEdge \{[\s\S]*?)cursor: String!/,
				"$1cursor: [String!]!",
			)
			.replace("hasNextPage: Boolean!", "hasNextPage: Boolean");
		assert.deepEqual(
			lint(broken)
				.filter(
					(finding) => finding.rule.startsWith("relay-") && !isListed(finding),
				)
				.map(({ rule, field }) => `${rule} ${field}`)
				.toSorted(),
			[
				"relay-connection-types PinConnection.pageInfo",
				// Not a string, and a list that is none of edges.
				"relay-edge-types PinEdge.cursor",
				"relay-edge-types PinEdge.cursor",
				"relay-page-info PageInfo.hasNextPage",
			],
		);
	});

	it("fits the operations of our clients, as graphql-inspector validates them", () => {
		const schema = buildSchema(SDL);
		const sources = documents();
		assert.ok(sources.length >= 30, String(sources.length));
		// Each by itself: a compiled text brings its fragments.
		const faults = (schema: GraphQLSchema) =>
			sources
				.flatMap((source) =>
					validate(schema, [source], { strictDeprecated: true }),
				)
				.map(({ source, errors, deprecated }) => ({
					name: source.name,
					messages: [...errors, ...deprecated].map(({ message }) => message),
				}));
		assert.deepEqual(faults(schema), []);
		const less = without("Pin", "viewerLikes");
		const names = faults(less).map(({ name }) => name);
		assert.ok(names.includes("LikeButtonLikeMutation.graphql.ts"));
		assert.ok(names.some((name) => name.startsWith("apollo/")));
		assert.ok(names.some((name) => name.startsWith("urql/")));
	});

	it("is compared by graphql-inspector with a changed one: a removed field breaks, a new one does not", async () => {
		const schema = buildSchema(SDL);
		const changes = async (before: GraphQLSchema, after: GraphQLSchema) =>
			// A field is one change, and its description another.
			new Set(
				(await diff(before, after)).map(
					({ path, criticality }) => `${path} ${criticality.level}`,
				),
			);
		assert.deepEqual(await changes(schema, buildSchema(SDL)), new Set());
		const fewer = without("Pin", "viewerLikes");
		assert.deepEqual(
			await changes(schema, fewer),
			new Set([`Pin.viewerLikes ${CriticalityLevel.Breaking}`]),
		);
		assert.deepEqual(
			await changes(fewer, schema),
			new Set([`Pin.viewerLikes ${CriticalityLevel.NonBreaking}`]),
		);
	});
});
