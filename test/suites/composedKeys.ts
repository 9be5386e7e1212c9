import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createWrites } from "../../src/graph/write/createWrites.ts";
import { type Id, unpackId } from "../../src/id/ids.ts";
import { createFieldReaders } from "../../src/model/fieldReaders.ts";
import { createStoredTypes } from "../../src/model/storedTypes.ts";
import { importLines } from "../../src/ops/import/importLines.ts";
import { verify } from "../../src/ops/verify/verify.ts";
import type { TestGraph } from "../../src/testing/openTest.ts";
import type { JsonObject } from "../../src/util/json.ts";

/** Natural keys of several fields, on the app of events. */
export function composedKeysSuite(
	database: string,
	open: () => Promise<TestGraph>,
): void {
	describe(`a natural key of two parts on ${database}`, () => {
		let graph: TestGraph;
		let fair = "";
		let party = "";
		before(async () => {
			graph = await open();
			type Events = {
				person: { events: { nodes: { id: string; title: string }[] } };
			};
			const { person } = (await ask(
				'{ person(by: {handle: "ada"}) { events { nodes { id title } } } }',
				"ada",
			)) as Events;
			for (const { id, title } of person.events.nodes) {
				if (title === "Maker fair") fair = id;
				else party = id;
			}
		});
		after(() => graph[Symbol.asyncDispose]());

		/** What a document answers, or the code and message of its first error. */
		async function ask(document: string, as?: string): Promise<unknown> {
			const { data, errors } = await graph.query(document, as ? { as } : {});
			const [first] = errors ?? [];
			return first === undefined
				? data
				: `${first.extensions.code}: ${first.message}`;
		}
		const TAKEN = "CONFLICT: Another Ticket has this event and seat.";
		const VENUE_TAKEN = "CONFLICT: Another Venue has this city and name.";
		const text = (value: string) => JSON.stringify(value);

		async function makeTicket(seat: string, as = "ada", event = fair) {
			const made = await ask(
				`mutation { createTicket(input: {eventId: "${event}", seat: ${text(seat)}}) { ticket { id } } }`,
				as,
			);
			if (typeof made === "string") return made;
			return (made as { createTicket: { ticket: { id: Id } } }).createTicket
				.ticket.id;
		}
		const moveTicket = (id: string, seat: string, as = "ada") =>
			ask(
				`mutation { updateTicket(input: {ticketId: "${id}", seat: ${text(seat)}}) { ticket { seat } } }`,
				as,
			);
		async function ticketAt(seat: string, event = fair, as = "ada") {
			const found = await ask(
				`{ ticket(by: {eventAndSeat: {event: "${event}", seat: ${text(seat)}}}) { id } }`,
				as,
			);
			if (typeof found === "string") return found;
			return (found as { ticket: { id: string } | null }).ticket?.id ?? null;
		}
		const makeVenue = (city: string, name: string) =>
			ask(
				`mutation { createVenue(input: {city: ${text(city)}, name: ${text(name)}}) { venue { name } } }`,
				"ada",
			);
		const venueAt = (city: string, name: string) =>
			ask(
				`{ venue(by: {cityAndName: {city: ${text(city)}, name: ${text(name)}}}) { city name } }`,
			);
		const report = async () => {
			const { schema, store } = graph.corkboard;
			return verify(store, { types: createStoredTypes(schema) });
		};

		it("belongs to one object of all that are created at once, and the others get an error that names its fields", async () => {
			const made = await Promise.all(
				["ada", "bo", "cy", "ada"].map((as) => makeTicket("A1", as)),
			);
			assert.equal(made.filter((one) => one === TAKEN).length, 3);
			assert.equal(
				await ask(
					'mutation { createGroup(input: {slug: "makers", name: "x"}) { group { id } } }',
					"ada",
				),
				"CONFLICT: This name or address is taken.",
			);
		});

		it("is found as its fields are stored, by whom the object is shown to, and never by another pair", async () => {
			const id = await makeTicket(" B1 ");
			assert.equal(await ticketAt("b1"), id);
			assert.equal(await ticketAt("\tB1 "), id);
			assert.equal(await ticketAt("B1", fair, "bo"), null);
			assert.equal(await ticketAt("B1", party), null);
			// The id of another type, of nothing, and what is no id.
			assert.equal(await ticketAt("B1", String(id)), null);
			assert.equal(await ticketAt("B1", "0"), null);
			assert.equal(
				await ticketAt("B1", "x"),
				'BAD_USER_INPUT: ticket: by.eventAndSeat.event must be an id, which is a decimal number, got "x".',
			);
			// What no ticket can have.
			assert.equal(await ticketAt(""), null);
			assert.equal(await ticketAt("x".repeat(21)), null);
			// The same seat of another event.
			assert.notEqual(await makeTicket("B1", "ada", party), TAKEN);
			for (const [city, name] of [
				["a", "b c"],
				["a b", "c"],
				['a","b', "c"],
				["a", 'b","c'],
				["a\\", "b"],
				["[a", "b]"],
			] as const) {
				assert.notEqual(await makeVenue(city, name), VENUE_TAKEN);
				assert.deepEqual(await venueAt(city.toUpperCase(), name), {
					venue: { city, name },
				});
				assert.equal(await makeVenue(city, name), VENUE_TAKEN);
			}
		});

		it("may be as long as its fields may be", async () => {
			const [city, name, other] = ["𝄞", "𝄢", "𝄡"].map((clef) =>
				clef.repeat(50),
			) as [string, string, string];
			const [long, longer] = [city + city, name + other];
			for (const [one, two] of [
				[long, longer],
				[longer, long],
				[long, name],
			] as const) {
				assert.deepEqual(await makeVenue(one, two), {
					createVenue: { venue: { name: two } },
				});
				assert.equal(await makeVenue(one, two), VENUE_TAKEN);
				assert.deepEqual(await venueAt(one, two), {
					venue: { city: one, name: two },
				});
			}
			assert.deepEqual(await venueAt(name, long), { venue: null });
		});

		it("moves with a change of one part: the old pair is free, a taken one is refused and nothing is changed", async () => {
			const [one, two] = [await makeTicket("C1"), await makeTicket("C2")];
			assert.equal(await moveTicket(one, "C2"), TAKEN);
			assert.equal(await ticketAt("C1"), one);
			// What does not change is not in its own way.
			assert.deepEqual(await moveTicket(one, "C1"), {
				updateTicket: { ticket: { seat: "C1" } },
			});
			assert.deepEqual(await moveTicket(one, "c1"), {
				updateTicket: { ticket: { seat: "c1" } },
			});
			assert.deepEqual(await moveTicket(one, "C3"), {
				updateTicket: { ticket: { seat: "C3" } },
			});
			assert.equal(await ticketAt("C1"), null);
			assert.equal(await ticketAt("C3"), one);
			assert.deepEqual(await moveTicket(two, "C1"), {
				updateTicket: { ticket: { seat: "C1" } },
			});
			assert.equal(await ticketAt("C1"), two);
		});

		it("is one object's, whichever of those that move to it at once comes first", async () => {
			const ids = await Promise.all(
				["D1", "D2", "D3"].map((seat) => makeTicket(seat)),
			);
			const moved = await Promise.all(
				ids.map((id) => moveTicket(String(id), "D9")),
			);
			assert.equal(moved.filter((one) => one === TAKEN).length, 2);
			const winner = ids[moved.findIndex((one) => one !== TAKEN)];
			assert.equal(await ticketAt("D9"), winner);
			const { clean, damage } = await report();
			assert.deepEqual([clean, damage], [true, []]);
		});

		it("moves when a reference that is a part of it is changed", async () => {
			const writes = createWrites(graph.corkboard.store);
			const ticket = (await makeTicket("E1")) as Id;
			const other = (await makeTicket("E2")) as Id;
			await writes.modify(ticket, (data) => ({ ...data, event_id: party }));
			assert.equal(await ticketAt("E1"), null);
			assert.equal(await ticketAt("E1", party), ticket);
			await writes.modify(other, (data) => ({ ...data, seat: "E1" }));
			await assert.rejects(
				writes.modify(other, (data) => ({ ...data, event_id: party })),
				{ code: "CONFLICT" },
			);
			// Without the reference an object has no key, and two such are not in each other's way.
			for (const id of [ticket, other]) {
				await writes.modify(id, ({ event_id: _, ...data }) => data);
			}
			assert.equal(await ticketAt("E1"), null);
			assert.equal(await ticketAt("E1", party), null);
			await writes.modify(other, (data) => ({ ...data, event_id: fair }));
			assert.equal(await ticketAt("E1"), other);
			await writes.modify(ticket, (data) => ({ ...data, event_id: party }));
			assert.equal(await ticketAt("E1", party), ticket);
		});

		it("is kept by imports: of two lines with one pair the second is refused, and so is one whose pair somebody has", async () => {
			await makeTicket("F1");
			const line = (
				key: string,
				seat: string,
				event: string,
				rev?: string,
			) => ({
				type: "Ticket",
				key,
				fields: { seat, event, holder: "bo" },
				...(rev && { rev }),
			});
			const lines = [
				{
					type: "Event",
					key: "new",
					fields: {
						title: "New",
						startsAt: "2027-05-01T18:00:00.000Z",
						organizer: "bo",
					},
				},
				line("t1", "F1", "fair"),
				line("t2", "F2", "fair", "1"),
				line("t3", "f2", "fair"),
				line("t4", "F1", "new"),
				line("t5", "F1", "new"),
				line("t6", "F3", "fair", "1"),
			];
			const taken = "The Ticket's event with seat is taken.";
			assert.deepEqual(await importBad(lines), [
				[2, taken],
				[4, taken],
				[6, taken],
			]);
			// In one batch after another the same lines are refused.
			assert.deepEqual(await importBad(lines), [
				[2, taken],
				[4, taken],
				[6, taken],
			]);
			// A line that changes an object changes its key.
			assert.deepEqual(await importBad([line("t2", "F3", "fair", "2")]), [
				[1, taken],
			]);
			assert.deepEqual(
				await importBad([
					line("t6", "F4", "fair", "2"),
					line("t2", "F3", "fair", "3"),
				]),
				[],
			);
			assert.notEqual(await makeTicket("F2"), TAKEN);
			assert.equal(await makeTicket("F3"), TAKEN);
			assert.equal(await makeTicket("F4"), TAKEN);
			const { clean, damage } = await report();
			assert.deepEqual([clean, damage], [true, []]);
		});

		async function importBad(lines: readonly object[]) {
			const { schema, store } = graph.corkboard;
			const bad: (readonly [number, string])[] = [];
			await importLines(
				store,
				(async function* () {
					for (const line of lines) yield JSON.stringify(line);
				})(),
				{
					fields: createFieldReaders(schema, store.domain.fields),
					strict: false,
					signal: new AbortController().signal,
					onBadLine: (line, reason) => bad.push([line, reason]),
				},
			);
			return bad;
		}

		it("is found damaged where a part was changed behind it, and repaired", async () => {
			const [one, two, three] = (await Promise.all(
				["G1", "G2", "G3"].map((seat) => makeTicket(seat)),
			)) as [Id, Id, Id];
			const { store } = graph.corkboard;
			const write = (id: Id, change: JsonObject) =>
				store.storage.transact({
					shard: unpackId(id).shard,
					objects: [id],
					decide: ({ objects: [data] }) => ({
						result: null,
						objects: [{ id, data: { ...(data as JsonObject), ...change } }],
					}),
				});
			await write(one, { seat: "G9" });
			await write(three, { seat: "G2" });
			const { damage } = await report();
			assert.deepEqual(damage.map(({ kind }) => kind).toSorted(), [
				"lookup missing",
				"lookup not held",
				"natural key twice",
			]);
			const { schema } = graph.corkboard;
			await verify(store, { types: createStoredTypes(schema), repair: true });
			const after = await report();
			assert.deepEqual([after.clean, after.damage], [true, []]);
			assert.equal(await makeTicket("G9"), TAKEN);
			assert.equal(await makeTicket("G2"), TAKEN);
			assert.equal(await makeTicket("G2_2"), TAKEN);
			assert.equal(await ticketAt("G2"), two);
			assert.notEqual(await makeTicket("G1"), TAKEN);
		});

		it("is left to an operator where two objects have it and no part of it is text", async () => {
			const { store, schema } = graph.corkboard;
			const answer = async (event: string) => {
				const made = await ask(
					`mutation { answerEvent(input: {eventId: "${event}", state: GOING}) { attendance { id } } }`,
					"ada",
				);
				return (made as { answerEvent: { attendance: { id: Id } } }).answerEvent
					.attendance.id;
			};
			const [one, two] = [await answer(fair), await answer(party)];
			await store.storage.transact({
				shard: unpackId(two).shard,
				objects: [two],
				decide: ({ objects: [data] }) => ({
					result: null,
					objects: [
						{ id: two, data: { ...(data as JsonObject), event_id: fair } },
					],
				}),
			});
			const { damage, failedRepairs } = await verify(store, {
				types: createStoredTypes(schema),
				repair: true,
			});
			assert.ok(
				failedRepairs.some((failure) =>
					failure.includes(
						"No free event and person was found. Change it by hand.",
					),
				),
				JSON.stringify(failedRepairs),
			);
			assert.ok(damage.some(({ kind }) => kind === "natural key twice"));
			const { data } = await graph.query(
				`{ event(id: "${fair}") { viewerAttendance { id } } }`,
				{ as: "ada" },
			);
			assert.deepEqual(data, { event: { viewerAttendance: { id: one } } });
		});
	});
}
