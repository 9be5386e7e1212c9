import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import {
	checkCase,
	hooked,
	makeObjects,
	NO_HOOK,
	type PagingWorld,
	pagingCase,
	pagingRuns,
} from "../helpers/pagingWorld.ts";
import { type Fleet, type Layers, openProcess, startFleet } from "./fleet.ts";

/** docs/consistency.md, "5. Pages". */
describe("pages of a list on MySQL that another process renumbers", () => {
	let fleet: Fleet;
	let world: PagingWorld;
	const stack = new AsyncDisposableStack();
	before(async () => {
		fleet = stack.use(await startFleet());
		const hook = { before: NO_HOOK };
		let keeps = false;
		const keepHeads = ({ objects, heads }: Layers): Layers => ({
			objects,
			heads: {
				...heads,
				delete: async (keys) => keeps || heads.delete(keys),
			},
		});
		const writer = stack.use(
			await openProcess(fleet.addresses, { overrides: { layers: keepHeads } }),
		);
		const processes = [];
		for (const hearsChanges of [true, false]) {
			const { store } = stack.use(
				await openProcess(fleet.addresses, {
					overrides: { storage: (storage) => hooked(storage, hook) },
				}),
			);
			processes.push({ store, hearsChanges });
		}
		world = {
			storage: writer.storage,
			writer: writer.store,
			processes,
			mapping: writer.mapping("placePin"),
			...(await makeObjects(writer.make)),
			keepShared(now) {
				keeps = now;
			},
			hook,
		};
	});
	after(() => stack[Symbol.asyncDispose]());

	it("meet every unmoved object once in random interleavings of moves, renumberings and old heads", async () => {
		await fc.assert(
			fc.asyncProperty(pagingCase, (one) => checkCase(world, one)),
			{ numRuns: pagingRuns(8) },
		);
	});
});
