import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { findApp } from "../../../src/app/findApp.ts";
import { readApp } from "../../../src/app/readApp.ts";
import type { Id } from "../../../src/id/ids.ts";
import {
	eraseUser,
	isErased,
	planErasure,
} from "../../../src/ops/personal/eraseUser.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import { parseStoredObject } from "../../../src/storage/storedObject.ts";
import { openEmbedded } from "../../helpers/embedded.ts";

const EVENTS = join(import.meta.dirname, "../../../examples/events");
const signal = new AbortController().signal;

describe("an erasure in an app whose objects may have no owner", () => {
	it("deletes what the person owns, and leaves a group of many that only names its founder", async () => {
		const model = readApp(await findApp(EVENTS));
		await using graph = await openEmbedded({ model });
		const { writes, store } = graph;
		const create = (type: string, data: Record<string, string>) =>
			writes.create({ type, data });
		const ada = await create("Person", { handle: "ada" });
		const ben = await create("Person", { handle: "ben" });
		const group = await create("Group", {
			slug: "bakers",
			name: "Bakers",
			founder_id: ada,
		});
		const member = (person: Id) =>
			create("Membership", {
				person_id: person,
				group_id: group,
				group_and_person: `${group} ${person}`,
			});
		const [hers, his] = [await member(ada), await member(ben)];
		const event = (organizer: Id, title: string) =>
			create("Event", { organizer_id: organizer, group_id: group, title });
		const [herEvent, hisEvent] = [
			await event(ada, "Dough"),
			await event(ben, "Crumb"),
		];
		const hisTalk = await create("Talk", {
			event_id: herEvent,
			speaker_id: ben,
			title: "Crust",
		});
		assert.deepEqual(planErasure(store, ada), {
			types: [
				"Membership",
				"Event",
				"Attendance",
				"Talk",
				"Question",
				"Ticket",
			],
			references: ["Group.founder"],
		});
		const options = { signal, settleMs: 0, forget: async () => {} };
		await eraseUser(store, ada, options);
		const stored = async (id: Id) => {
			const [text] = await graph.storage.read("objects", [id]);
			return parseStoredObject(id, String(text));
		};
		for (const gone of [ada, hers, herEvent]) {
			assert.ok(isErased(await stored(gone)), gone);
		}
		const founded = await stored(group);
		assert.deepEqual(
			[founded.name, founded.founder_id, founded.active ?? true],
			["Bakers", ada, true],
		);
		for (const kept of [ben, his, hisEvent, group]) {
			const [node] = await graph.view(ben).readObjects([kept]);
			assert.ok(node, kept);
		}
		// A part of an event that is gone: nobody sees it any more.
		const [talk] = await graph.view(ben).readObjects([hisTalk]);
		assert.equal(talk, null);
		// Nobody is its founder any more.
		const [founder] = await graph.view(ben).readObjects([ada]);
		assert.equal(founder, null);
		const { remaining } = await verify(store, {});
		assert.deepEqual(remaining, []);
	});
});
