import { inBatches, inParallel } from "./ask.ts";
import {
	type Comparison,
	fieldOf,
	NEXT_PAGES_AT_ONCE,
	nextPagesQuery,
	objectsQuery,
	type Page,
} from "./documents.ts";
import type { Expected, ListName } from "./expected.ts";
import type { Node } from "./identities.ts";
import type { Run } from "./run.ts";

/** One list of an answer, as far as it was read. */
interface Reading {
	readonly name: ListName;
	readonly of: Expected;
	readonly id: string;
	readonly expected: readonly Expected[];
	readonly nodes: (Node | null)[];
	/** The last page's. */
	page: Page;
}

/** Compare objects of one type, their origins, and their lists to the end. */
export async function compareObjects(
	run: Run,
	comparison: Comparison,
	objects: readonly Expected[],
): Promise<void> {
	const known = objects.flatMap((object) => {
		const id = run.identities.idOf(object);
		if (id !== undefined) return [{ object, id }];
		run.findings.mismatch(`${object.key} was met in no list it is on`);
		return [];
	});
	const query = objectsQuery(comparison);
	await inParallel(inBatches(known, comparison.atOnce), async (batch) => {
		const data = await run.ask(query, { ids: batch.map(({ id }) => id) });
		const nodes = data.nodes as readonly (Node | null)[];
		const readings: Reading[] = [];
		for (const [at, { object, id }] of batch.entries()) {
			const node = nodes[at] ?? null;
			run.identities.check(object.key, object, node);
			if (node === null) continue;
			compareOrigin(run, object, node);
			for (const name of comparison.lists) {
				const page = Reflect.get(node, fieldOf(name)) as Page | null;
				const reading = startReading(run, name, object, id, page);
				if (reading !== null) readings.push(reading);
			}
		}
		await readOn(run, comparison.lists, readings);
		for (const reading of readings) compareReading(run, reading);
	});
}

function compareOrigin(run: Run, object: Expected, node: Node): void {
	if (object.type !== "Pin") return;
	const origin = Reflect.get(node, "origin") as Node | null;
	const where = `origin of ${object.key}`;
	run.findings.figures.origins++;
	if (object.origin !== null) {
		run.identities.check(where, object.origin, origin);
	} else if (origin !== null) {
		run.findings.same(where, "nothing", origin.id);
	}
}

function startReading(
	run: Run,
	name: ListName,
	of: Expected,
	id: string,
	page: Page | null,
): Reading | null {
	const expected = run.expectation.list(name, of);
	if (page === null) {
		run.findings.mismatch(`${name} of ${of.key}: expected a list but got none`);
		return null;
	}
	run.findings.figures.pages++;
	return { name, of, id, expected, nodes: [...page.nodes], page };
}

/** The pages that follow, of many lists of a kind in one request; a list that grows past what is expected is long enough. */
async function readOn(
	run: Run,
	names: readonly ListName[],
	readings: readonly Reading[],
): Promise<void> {
	for (const name of names) {
		let open = readings.filter((reading) => reading.name === name);
		for (;;) {
			open = open.filter(
				({ page, nodes, expected }) =>
					page.pageInfo.hasNextPage && nodes.length <= expected.length,
			);
			if (open.length === 0) break;
			for (const batch of inBatches(open, NEXT_PAGES_AT_ONCE)) {
				await readNext(run, name, batch);
			}
		}
	}
}

async function readNext(
	run: Run,
	name: ListName,
	batch: readonly Reading[],
): Promise<void> {
	const data = await run.ask(
		nextPagesQuery(name, batch.length),
		Object.fromEntries(
			batch.flatMap(({ id, page }, n) => [
				[`i${n}`, id],
				[`a${n}`, page.pageInfo.endCursor],
			]),
		),
	);
	for (const [n, reading] of batch.entries()) {
		const { list } = data[`l${n}`] as { readonly list: Page };
		run.findings.figures.pages++;
		if (list.nodes.length === 0) {
			run.findings.mismatch(
				`${name} of ${reading.of.key}: expected a page after ${reading.nodes.length} items, as hasNextPage said, but got an empty one`,
			);
		}
		// An empty page that promises another one would be asked for for ever.
		reading.page =
			list.nodes.length > 0
				? list
				: { ...list, pageInfo: { ...list.pageInfo, hasNextPage: false } };
		reading.nodes.push(...list.nodes);
	}
}

function compareReading(run: Run, reading: Reading): void {
	const { name, of, expected, nodes, page } = reading;
	const where = `${name} of ${of.key}`;
	run.findings.figures.lists++;
	run.findings.same(`${where}: totalCount`, expected.length, page.totalCount);
	compareItems(run, where, expected, nodes);
}

/** Every item at its place, by what it is and by its id, up to the first that is another: those after it are likely to be out of place as well. */
export function compareItems(
	run: Run,
	where: string,
	expected: readonly Expected[],
	nodes: readonly (Node | null)[],
): void {
	run.findings.figures.edges += expected.length;
	run.findings.same(`${where}: length`, expected.length, nodes.length);
	for (const [at, object] of expected.entries()) {
		const node = nodes[at];
		const place = `${where}, ${at + 1} from the top`;
		if (node === undefined) return;
		if (!run.identities.check(place, object, node)) return;
	}
}
