import type {
	Board,
	Edge,
	ListField,
	Model,
	ObjectKind,
	Thing,
	Tri,
	User,
} from "./model.ts";
import { LISTS } from "./model.ts";
import type { Reading, Register } from "./register.ts";

/** A broken promise. */
export interface Violation {
	/** Which check found it: one word for each. */
	readonly kind:
		| "stale"
		| "privacy"
		| "missing"
		| "invented"
		| "duplicate"
		| "order"
		| "count"
		| "name"
		| "token"
		| "unavailable"
		| "internal"
		| "late"
		| "process"
		| "verify"
		| "move"
		| "import"
		| "delivery";
	readonly promised: string;
	readonly seen: string;
	/** Whose history explains it: ids, or an interest's slug. */
	readonly objects: readonly string[];
}

export type Report = (violation: Violation) => void;

export interface ResponseError {
	readonly message: string;
	readonly path?: readonly (string | number)[];
	readonly extensions?: { readonly code?: string };
}

/** Who asked, when, where; and what could not be read. */
export interface Asked {
	readonly viewer: User | null;
	readonly reading: Reading;
	readonly errors: readonly ResponseError[];
	readonly report: Report;
}

type Json = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];

/**
 * Checks whatever a response shows: each object with a `__typename` and an `id`,
 * and each list of them, against what the model says this viewer may see now.
 */
export function checkResponse(model: Model, data: unknown, asked: Asked): void {
	visit(model, data, [], asked);
}

function visit(model: Model, value: unknown, path: Path, asked: Asked): void {
	if (Array.isArray(value)) {
		for (const [n, one] of value.entries()) {
			visit(model, one, [...path, n], asked);
		}
		return;
	}
	if (typeof value !== "object" || value === null) return;
	const json = value as Json;
	const kind = json.__typename as ObjectKind | undefined;
	const isObject = kind !== undefined && typeof json.id === "string";
	if (isObject) checkObject(model, kind, json, path, asked);
	for (const [name, field] of Object.entries(json)) {
		const at = [...path, name];
		const list = isObject ? LISTS[`${kind}.${name}`] : undefined;
		if (list !== undefined) {
			checkList(model, list, kind as ObjectKind, json, field, at, asked);
		}
		visit(model, field, at, asked);
	}
}

/** The object that this JSON shows; undefined if nobody asked for one like it. */
export function thingOf(model: Model, json: Json): Thing | undefined {
	const id = json.id as string;
	const known = model.byId(id);
	if (known !== undefined) return known;
	const serial = json.bio ?? json.description ?? json.link ?? json.text;
	return typeof serial === "string" ? model.bySerial.get(serial) : undefined;
}

function checkObject(
	model: Model,
	kind: ObjectKind,
	json: Json,
	path: Path,
	asked: Asked,
): void {
	const id = json.id as string;
	if (kind === "Interest") {
		checkInterest(model, json, asked);
		return;
	}
	const thing = thingOf(model, json);
	const where = `${path.join(".")} (${kind} ${id})`;
	if (thing === undefined || thing.kind !== kind) {
		// A reference with nothing but its id names an object that its create has not acknowledged yet.
		if (thing === undefined && Object.keys(json).length <= 2) return;
		asked.report({
			kind: "invented",
			promised: "only objects that a request created are shown",
			seen: `${where}: ${JSON.stringify(json)}`,
			objects: [id],
		});
		return;
	}
	if (thing.create.outcome === "refused") {
		asked.report({
			kind: "invented",
			promised: `an object whose create was refused is never shown: ${thing.create.detail}`,
			seen: `${where}: ${JSON.stringify(json)}`,
			objects: [id],
		});
		return;
	}
	if (thing.id !== null && thing.id !== id) {
		asked.report({
			kind: "duplicate",
			promised: `the create of ${thing.serial} happens once, as ${thing.id}`,
			seen: where,
			objects: [id, thing.id],
		});
		return;
	}
	model.learn(thing, id);
	if (model.isVisible(asked.viewer, thing, asked.reading) === "no") {
		asked.report({
			kind: "privacy",
			promised: `${nameOf(asked.viewer)} does not see ${kind} ${id}`,
			seen: `${where}: ${JSON.stringify(json)}`,
			objects: objectsOf(thing, asked.viewer),
		});
		return;
	}
	checkFields(model, thing, json, where, asked);
}

function checkInterest(model: Model, json: Json, asked: Asked): void {
	const { id, slug } = json as { id: string; slug?: string };
	if (slug === undefined) return;
	const interest = model.interests.get(slug);
	if (interest === undefined || (interest.id !== null && interest.id !== id)) {
		asked.report({
			kind: interest === undefined ? "invented" : "duplicate",
			promised: `the interest ${slug} has the id ${interest?.id ?? "of nobody"}`,
			seen: JSON.stringify(json),
			objects: [slug],
		});
		return;
	}
	interest.id = id;
}

function checkFields(
	model: Model,
	thing: Thing,
	json: Json,
	where: string,
	asked: Asked,
): void {
	const { reading, viewer } = asked;
	const check = <V>(name: string, register: Register<V>, shown: V) => {
		const possible = register.possible(reading, model.freshness);
		if (possible.has(shown)) return;
		const wasWritten =
			register.initial === shown ||
			register.writes.some(
				({ value, operation }) =>
					value === shown && operation.outcome !== "refused",
			);
		asked.report({
			kind: wasWritten ? "stale" : "invented",
			promised: `${where}.${name} is one of ${JSON.stringify([...possible])} for a reading of ${describe(reading)}`,
			seen: JSON.stringify(shown),
			objects: objectsOf(thing, viewer),
		});
	};
	const edge = (name: string, mapping: string, from: User, to: string) => {
		const shown = json[name];
		if (shown === undefined) return;
		const tri = model.isPresent(
			model.edge(mapping, from.id ?? "", to),
			"source",
			reading,
		);
		if (tri === "maybe" || (tri === "yes") === shown) return;
		if (shown === null && hasError(asked.errors, [])) return;
		asked.report({
			kind: "stale",
			promised: `${where}.${name} is ${tri} for a reading of ${describe(reading)}`,
			seen: JSON.stringify(shown),
			objects: [to, from.id ?? ""],
		});
	};
	if (thing.kind === "User") {
		if (typeof json.username === "string") {
			check("username", thing.username, json.username);
		}
		if (typeof json.name === "string") check("name", thing.name, json.name);
		if ("email" in json) {
			if (viewer === thing) {
				if (!hasError(asked.errors, [])) {
					check("email", thing.email, json.email as string | null);
				}
			} else if (json.email !== null) {
				asked.report({
					kind: "privacy",
					promised: `${nameOf(viewer)} does not see the address of ${thing.id}`,
					seen: `${where}: ${JSON.stringify(json)}`,
					objects: objectsOf(thing, viewer),
				});
			}
		}
		if (viewer !== null && viewer !== thing && thing.id !== null) {
			edge("viewerFollows", "followUser", viewer, thing.id);
		}
	}
	if (thing.kind === "Board") {
		if (typeof json.name === "string") check("name", thing.name, json.name);
		if (typeof json.secret === "boolean") {
			check("secret", thing.secret, json.secret);
		}
		if (viewer !== null && thing.id !== null) {
			edge("viewerFollows", "followBoard", viewer, thing.id);
		}
	}
	if (thing.kind === "Pin") {
		if (typeof json.details === "string") {
			check("details", thing.details, json.details);
		}
		const board = (json.board as Json | null | undefined)?.id;
		const shown = typeof board === "string" ? model.byId(board) : undefined;
		if (shown?.kind === "Board") check<Board>("board", thing.board, shown);
		if (viewer !== null && thing.id !== null) {
			edge("viewerLikes", "likePin", viewer, thing.id);
		}
	}
}

/** An object that was asked for by its id: null only if it may be hidden. */
export function checkAsked(
	model: Model,
	thing: Thing,
	shown: unknown,
	path: Path,
	asked: Asked,
): void {
	if (shown !== null && shown !== undefined) return;
	if (hasError(asked.errors, path)) return;
	if (model.isVisible(asked.viewer, thing, asked.reading) !== "yes") return;
	asked.report({
		kind: "missing",
		promised: `${nameOf(asked.viewer)} sees ${thing.kind} ${thing.id} in a reading of ${describe(asked.reading)}`,
		seen: `${path.join(".")} is null`,
		objects: objectsOf(thing, asked.viewer),
	});
}

interface Connection {
	readonly totalCount?: number | null;
	readonly nodes?: readonly (Json | null)[];
	readonly pageInfo?: {
		readonly hasNextPage: boolean;
		readonly hasPreviousPage: boolean;
	};
}

function checkList(
	model: Model,
	list: ListField,
	kind: ObjectKind,
	parent: Json,
	value: unknown,
	path: Path,
	asked: Asked,
): void {
	if (typeof value !== "object" || value === null) return;
	const id = kind === "Interest" ? String(parent.slug) : String(parent.id);
	const { totalCount, nodes, pageInfo } = value as Connection;
	const { reading } = asked;
	if (list.isPrivate && asked.viewer?.id !== id) {
		asked.report({
			kind: "privacy",
			promised: `${nameOf(asked.viewer)} does not see ${list.mapping} of ${id}`,
			seen: JSON.stringify(value),
			objects: [id],
		});
	}
	if (typeof totalCount === "number") {
		checkCount(model, list, id, totalCount, path, asked);
	}
	if (nodes === undefined) return;
	const seen = nodes.map((node) => (node === null ? null : keyOf(list, node)));
	for (const [n, key] of seen.entries()) {
		if (key === null) continue;
		const json = nodes[n] as Json;
		// What the model does not know yet, it learns when it looks at the object.
		if (list.of !== "Interest") {
			const thing = thingOf(model, json);
			if (thing !== undefined) model.learn(thing, key);
		}
		const edge = model.edge(
			list.mapping,
			list.end === "from" ? id : key,
			list.end === "from" ? key : id,
		);
		if (model.isPresent(edge, list.rule, reading) !== "no") continue;
		asked.report({
			kind: edge.present.writes.length > 0 ? "stale" : "invented",
			promised: `${list.mapping} from ${edge.from} to ${edge.to} is absent in a reading of ${describe(reading)}`,
			seen: `${path.join(".")} shows it`,
			objects: [edge.from, edge.to],
		});
	}
	const page: Page = { keys: seen.filter((key) => key !== null), reading };
	const isWhole =
		pageInfo?.hasNextPage === false &&
		pageInfo.hasPreviousPage === false &&
		!hasError(asked.errors, path);
	checkPages(model, list, id, [page], isWhole, asked);
}

function checkCount(
	model: Model,
	list: ListField,
	id: string,
	count: number,
	path: Path,
	asked: Asked,
): void {
	const tris = model
		.edgesOf(list, id)
		.map((edge) => model.isPresent(edge, list.rule, asked.reading));
	const least = tris.filter((tri) => tri === "yes").length;
	const most =
		tris.filter((tri) => tri !== "no").length + model.unresolved(list, id);
	if (count >= least && count <= most) return;
	asked.report({
		kind: "count",
		promised: `${list.mapping} ${list.end} ${id} has ${least} to ${most} edges in a reading of ${describe(asked.reading)}`,
		seen: `${path.join(".")}.totalCount is ${count}`,
		objects: [id],
	});
}

export interface Page {
	/** Ids, or slugs of interests, in the list's own order. */
	readonly keys: readonly string[];
	readonly reading: Reading;
}

/**
 * What all pages of one list, read one after another, have to show: what stayed
 * in the list, visible and not moved, exactly once and in order.
 */
export function checkPages(
	model: Model,
	list: ListField,
	id: string,
	pages: readonly Page[],
	isWhole: boolean,
	asked: Asked,
): void {
	const seen = pages.flatMap(({ keys }) => keys);
	const all = (state: (reading: Reading) => Tri) =>
		pages.every(({ reading }) => state(reading) === "yes");
	const stays = (edge: Edge) => {
		const key = list.end === "from" ? edge.to : edge.from;
		const thing = model.byId(key);
		if (list.of !== "Interest" && thing === undefined) return false;
		return (
			all((reading) => model.isPresent(edge, list.rule, reading)) &&
			(thing === undefined ||
				all((reading) => model.isVisible(asked.viewer, thing, reading))) &&
			model.isUnmoved(
				edge,
				list.rule,
				pages.map(({ reading }) => reading),
			)
		);
	};
	const counts = new Map<string, number>();
	for (const key of seen) counts.set(key, (counts.get(key) ?? 0) + 1);
	const report = (
		kind: Violation["kind"],
		key: string,
		what: string,
		other: string = key,
	) =>
		asked.report({
			kind,
			promised: `${list.mapping} ${list.end} ${id}: what stays in the list is met once, in order, by a reading of ${describe(pages[0]?.reading)}${pages.length > 1 ? ` to ${describe(pages.at(-1)?.reading)}, ${pages.length} pages` : ""}`,
			seen: `${what}: ${seen.join(" ")}`,
			objects: [...new Set([key, other, id])],
		});
	for (const edge of model.edgesOf(list, id)) {
		const key = list.end === "from" ? edge.to : edge.from;
		const times = counts.get(key) ?? 0;
		if (times === 1 || (times === 0 && !isWhole)) continue;
		if (!stays(edge)) continue;
		report(
			times === 0 ? "missing" : "duplicate",
			key,
			times === 0 ? `${key} is missing` : `${key} is met ${times} times`,
		);
	}
	if (list.mapping !== "placePin" || list.end !== "from") return;
	const board = model.byId(id);
	if (board?.kind !== "Board") return;
	const ranks = new Map(board.order.map((key, rank) => [key, rank]));
	let last: readonly [string, number] | null = null;
	for (const key of seen) {
		const rank = ranks.get(key);
		if (rank === undefined || counts.get(key) !== 1) continue;
		if (!stays(model.edge(list.mapping, id, key))) continue;
		if (last !== null && rank < last[1]) {
			report(
				"order",
				key,
				`${key} comes after ${last[0]}, but is above it`,
				last[0],
			);
		}
		last = [key, rank];
	}
}

function keyOf(list: ListField, node: Json): string {
	return String(list.of === "Interest" ? node.slug : node.id);
}

/** Whether an error explains that something at this path is missing. */
export function hasError(
	errors: readonly ResponseError[],
	path: Path,
): boolean {
	return errors.some(({ path: at = [] }) => {
		const length = Math.min(at.length, path.length);
		return at.slice(0, length).join() === path.slice(0, length).join();
	});
}

export function describe(reading: Reading | undefined): string {
	if (reading === undefined) return "nobody";
	return `${reading.process} at ${(reading.from / 1_000).toFixed(3)}–${(reading.to / 1_000).toFixed(3)} s`;
}

function nameOf(viewer: User | null): string {
	return viewer === null ? "an anonymous viewer" : `user ${viewer.id}`;
}

/** Whose history explains who sees an object. */
export function objectsOf(
	thing: Thing,
	viewer: User | null,
): readonly string[] {
	const ids = (one: Thing): readonly (string | null)[] => {
		switch (one.kind) {
			case "User":
				return [one.id];
			case "Board":
				return [one.id, one.owner.id];
			case "Pin":
				return [
					one.id,
					one.owner.id,
					...new Set([
						one.board.initial.id,
						...one.board.writes.map(({ value }) => value.id),
					]),
				];
			case "Comment":
				return [one.id, one.author.id, ...ids(one.pin)];
		}
	};
	return [...ids(thing), viewer?.id ?? null].filter((id) => id !== null);
}
