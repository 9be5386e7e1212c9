import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { CorkboardError } from "../errors.ts";
import { FeedModel } from "../feed/feedModel.ts";
import type { Domain } from "../graph/domain.ts";
import { createVisibility } from "../graph/read/visibilityPolicy.ts";
import { createPlacement } from "../graph/write/placement.ts";
import type { DeclaredMutation } from "../model/expand/expandMutations.ts";
import { checkFieldPolicies } from "../model/fieldReaders.ts";
import { compareLock, EMPTY_LOCK, parseLock } from "../model/lock/lock.ts";
import { type ModelAndSchema, readModel, readSdlFiles } from "../model/read.ts";
import type { SdlFile } from "../model/sdl.ts";
import { referencesNullOnlyOnError } from "../model/semanticNonNull.ts";
import type { Model, Reference } from "../model/types.ts";
import { checkInputs, checkKeyInputs } from "../plan/checkInputs.ts";
import {
	declaredMutations,
	type Rights,
} from "../resolvers/declaredMutations.ts";
import { nodeResolvers } from "../resolvers/nodeResolvers.ts";
import { didYouMean } from "../util/nearest.ts";
import { readTextFileSync } from "../util/textFile.ts";
import { checkShape } from "./checkShape.ts";
import type { App, Identity } from "./defineApp.ts";

/** An app, its model and the rules that go with that. */
export interface AppModel extends ModelAndSchema {
	readonly app: App;
	readonly domain: Domain;
	/** Null for an app without a home feed. */
	readonly feedModel: FeedModel | null;
	/** Those of the app, and those of the mutations that its SDL declares. */
	readonly resolvers: App["resolvers"];
}

/** What was read of an app, from which SDL. */
const known = new WeakMap<
	App,
	{ readonly files: readonly SdlFile[]; readonly read: AppModel }
>();

/**
 * Reads the SDL of an app, and holds its resolvers and policies against it. Opens nothing.
 * A process that opens an app again and again, as tests do, reads the same SDL once. Throws BAD_MODEL.
 */
export function readApp(app: App): AppModel {
	checkShape(app);
	const files = readSdlFiles(app.schema);
	const before = known.get(app);
	if (before !== undefined && isDeepStrictEqual(before.files, files)) {
		return before.read;
	}
	const read = readSchema(app, files);
	known.set(app, { files, read });
	return read;
}

function readSchema(app: App, files: readonly SdlFile[]): AppModel {
	const { model, schema, mutations } = readModel(files, {
		resolverFields: new Set(app.resolvers.keys()),
		describe: (type, field) =>
			app.policies.fields?.[type]?.[field]?.validate.accepts ?? null,
	});
	checkIdentity(model, app.identity);
	checkUses(model, app.resolvers);
	checkKeyInputs(schema, model, app.resolvers);
	const domain = createDomain(model, app);
	const { rights = {} } = app.policies;
	checkMutations(mutations, domain, rights, app.resolvers);
	checkReferences({ model, schema }, domain);
	checkInputs(schema, { model, fields: domain.fields }, app.resolvers);
	const feedModel = readFeed(model, app, domain.createdAtField);
	const resolvers = new Map([
		...nodeResolvers().filter(([path]) =>
			model.sources.get("Query")?.has(path.slice("Query.".length)),
		),
		...declaredMutations(mutations, domain.createdAtField, rights),
		...app.resolvers,
	]);
	return { app, model, schema, mutations, domain, feedModel, resolvers };
}

/** Throws BAD_MODEL. */
function readFeed(
	model: Model,
	{ feed, identity }: App,
	createdAtField: string | null,
): FeedModel | null {
	if (feed === undefined) return null;
	const read = new FeedModel(model, feed, createdAtField);
	if (read.user === identity.type) return read;
	throw new CorkboardError(
		"BAD_MODEL",
		`The app's feed.list must be a mapping from ${identity.type}, the type of the viewers; ${read.list.name} leads from ${read.user}.`,
	);
}

/** What is particular to an app, bound to its model. Throws BAD_MODEL for a policy that names what the model does not have. */
export function createDomain(
	model: Model,
	{ policies }: Pick<App, "policies">,
): Domain {
	const { visibility, placement, fields = {}, createdAtField } = policies;
	checkFieldPolicies(model, fields);
	checkCreatedAtField(model, createdAtField);
	return {
		visibility: createVisibility(
			model,
			visibility ?? { types: {}, privateLists: [] },
		),
		placement: createPlacement(model, placement ?? {}),
		fields,
		createdAtField: createdAtField ?? null,
	};
}

function checkCreatedAtField(model: Model, field: string | undefined): void {
	if (field === undefined) return;
	for (const { stored } of model.objects.values()) {
		if (stored.some((one) => one.field === field)) return;
	}
	throw new CorkboardError(
		"BAD_MODEL",
		`The policies name the createdAtField ${field}, which no type of the schema stores.`,
	);
}

/** Throws BAD_MODEL for an input that takes what nothing validates, and for a mutation that nobody may use. */
function checkMutations(
	mutations: readonly DeclaredMutation[],
	{ fields: policies }: Domain,
	rights: Rights,
	resolvers: App["resolvers"],
): void {
	for (const declared of mutations) {
		const isOwn = resolvers.has(`Mutation.${declared.name}`);
		const asked = rightOf(declared);
		if (
			asked !== null &&
			!isOwn &&
			!asked.by.some(([type, right]) => rights[type]?.[right])
		) {
			const [type, right] = asked.by.at(-1) ?? [];
			throw new CorkboardError(
				"BAD_MODEL",
				`Nobody may use ${declared.name}, because ${type} has no reference owner: name its owner with @mutations(owner:), or add policies.rights.${type}.${right}.`,
			);
		}
		if (!("fields" in declared)) continue;
		const { name, type } = declared;
		for (const field of declared.fields) {
			const policy = policies[type]?.[field];
			if (policy !== undefined && !policy.operatorOnly) continue;
			throw new CorkboardError(
				"BAD_MODEL",
				`${name} takes ${type}.${field}, which ${policy === undefined ? "has no validator" : "only operators set"}: add policies.fields.${type}.${field}, or write ${name} by hand in place of @mutations.`,
			);
		}
	}
}

/** The rights that let somebody use a mutation which no owner may use; null if an owner may. */
function rightOf(declared: DeclaredMutation): {
	readonly by: readonly (readonly [
		type: string,
		right: keyof Rights[string],
	])[];
} | null {
	if ("mapping" in declared) {
		const { list } = declared;
		if (list === null || list.owner !== null) return null;
		const update = [list.type, "update"] as const;
		return {
			by:
				declared.kind === "move" ? [[declared.type, "move"], update] : [update],
		};
	}
	const { kind, type, owner } = declared;
	return kind === "create" || owner !== null ? null : { by: [[type, kind]] };
}

/** Throws BAD_MODEL for a reference that is said to be null only on an error, and may be missing or hidden while its object is seen. */
function checkReferences(
	{ model, schema }: Pick<ModelAndSchema, "model" | "schema">,
	domain: Domain,
): void {
	for (const { type, field } of referencesNullOnlyOnError(model, schema)) {
		if (domain.visibility.parentOf(type)?.field === field) continue;
		if (everyOwnerOf(domain, type)?.field === field) continue;
		throw new CorkboardError(
			"BAD_MODEL",
			`${type}.${field} is @semanticNonNull, but a viewer may see a ${type} without it. It may be on the reference that policies.visibility.types.${type}.parent names, and on the owner, if each ${type} has one: it is placed beside its owner (policies.placement), or inherits the owner of such a parent.`,
		);
	}
}

/** Throws BAD_MODEL for a resolver that is made for a mapping or a lookup that the schema does not have. */
function checkUses(model: Model, resolvers: App["resolvers"]): void {
	for (const [path, { uses }] of resolvers) {
		for (const [kind, name, known] of [
			["mapping", uses?.mapping, model.mappings],
			["lookup", uses?.lookup, model.lookups],
		] as const) {
			if (name === undefined || known.has(name)) continue;
			throw new CorkboardError(
				"BAD_MODEL",
				`The resolver of ${path} names the ${kind} ${name}, which the schema does not have.${didYouMean(name, known.keys())}`,
			);
		}
	}
}

/** The owner reference of a type of which each object has an owner: an import refuses it without, and a viewer who sees the object sees the owner. Else null. */
function everyOwnerOf(domain: Domain, type: string): Reference | null {
	const { visibility, placement } = domain;
	const beside = placement.colocateWith(type);
	if (beside !== null && beside.key === visibility.keysOf(type).owner) {
		return beside;
	}
	const parent = visibility.parentOf(type);
	const inherited = visibility.inheritedOwnerOf(type);
	if (parent === null || inherited === null) return null;
	return everyOwnerOf(domain, parent.target) && inherited;
}

function checkIdentity(
	model: Model,
	{ type, nameLookup, accountLookup, closedField }: Identity,
): void {
	const object = model.objects.get(type);
	const names = new Set(
		object?.lookups
			.filter(({ parts }) => parts.length === 1)
			.map(({ name }) => name),
	);
	const missing =
		object === undefined
			? `the type ${type}`
			: !names.has(nameLookup)
				? `the lookup ${nameLookup} of ${type}`
				: accountLookup !== undefined && !names.has(accountLookup)
					? `the lookup ${accountLookup} of ${type}`
					: closedField !== undefined &&
							!object.stored.some(({ field }) => field === closedField)
						? `the stored field ${type}.${closedField}`
						: null;
	if (missing === null) return;
	throw new CorkboardError(
		"BAD_MODEL",
		`The app's identity names ${missing}, which the schema does not have.`,
	);
}

/** What a model stores, in 12 hexadecimal digits: processes of a fleet whose models differ have different ones. */
export function modelFingerprint(model: Model): string {
	const { next } = compareLock(EMPTY_LOCK, model);
	return createHash("sha256")
		.update(JSON.stringify(next))
		.digest("hex")
		.slice(0, 12);
}

/** The file that fixes what an app's model has stored since it was first served. */
export function lockFileOf({ schema }: App): string {
	return join(schema, "model.lock.json");
}

/** What the lock file lacks of an app's model, and where they contradict each other: a sentence for each. */
export function lockProblems({
	app,
	model,
}: Pick<AppModel, "app" | "model">): readonly string[] {
	const file = lockFileOf(app);
	if (!existsSync(file))
		return [`${file} is missing. Create it with corkboard schema lock.`];
	const { additions, breaks } = compareLock(
		parseLock(readTextFileSync(file)),
		model,
	);
	return [
		...breaks,
		...additions.map(
			(addition) =>
				`${addition}: not in the lock file. Add it with corkboard schema lock.`,
		),
	];
}

/**
 * Throws BAD_MODEL if an app contradicts its lock file: it would misread what is
 * stored. Each sentence has the file and the line. What the lock lacks is for `init` to refuse.
 */
export function requireLockKept({
	app,
	model,
}: Pick<AppModel, "app" | "model">): void {
	const lock = lockFileOf(app);
	if (!existsSync(lock)) return;
	const { breaks } = compareLock(parseLock(readTextFileSync(lock)), model);
	if (breaks.length === 0) return;
	const files = readdirSync(app.schema)
		.filter((name) => name.endsWith(".graphql"))
		.toSorted()
		.map((name) => join(app.schema, name));
	throw new CorkboardError(
		"BAD_MODEL",
		breaks.map((each) => `${placeOf(each, files, lock)}: ${each}`).join("\n"),
	);
}

/** Where the SDL, or else the lock file, has what a sentence is about. */
function placeOf(
	sentence: string,
	files: readonly string[],
	lock: string,
): string {
	const [, kind, name = ""] =
		/\b(type|mapping|lookup) (\S+)/.exec(sentence) ??
		/\b(key) \S+ of (\S+)/.exec(sentence) ??
		[];
	const isOf = (line: string) =>
		kind === "mapping" || kind === "lookup"
			? line.includes(`name: "${name}"`)
			: line.startsWith(`type ${name} `);
	for (const file of files) {
		const at = lineOf(file, isOf);
		if (at !== null) return `${file}:${at}`;
	}
	return `${lock}:${lineOf(lock, (line) => line.includes(`"${name}"`)) ?? 1}`;
}

function lineOf(
	file: string,
	isMeant: (line: string) => boolean,
): number | null {
	const at = readTextFileSync(file).split("\n").findIndex(isMeant);
	return at === -1 ? null : at + 1;
}
