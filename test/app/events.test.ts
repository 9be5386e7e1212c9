import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import events from "../../examples/events/app.ts";
import { readApp } from "../../src/app/readApp.ts";
import { openTest } from "../../src/testing/openTest.ts";

const graph = await openTest(events);
after(() => graph[Symbol.asyncDispose]());

/** What a document answers, or the code of its first error. */
async function ask<T = Record<string, never>>(
	document: string,
	as?: string,
): Promise<T | string> {
	const { data, errors = [] } = await graph.query(document, as ? { as } : {});
	return String(errors[0]?.extensions.code ?? "") || (data as T);
}

async function event(title: string): Promise<string> {
	const found = await ask<{
		person: { events: { nodes: { id: string; title: string }[] } };
	}>(
		'{ person(by: {handle: "ada"}) { events { nodes { id title } } } }',
		"ada",
	);
	assert.ok(typeof found !== "string");
	const one = found.person.events.nodes.find((each) => each.title === title);
	assert.ok(one);
	return one.id;
}

describe("examples/events", () => {
	it("has a feed that its reader alone looks into, refreshes and takes events out of", async () => {
		const me = async (as: string) => {
			const found = await ask<{ viewer: { id: string } }>(
				"{ viewer { id } }",
				as,
			);
			assert.ok(typeof found !== "string");
			return found.viewer.id;
		};
		const [ada, bo] = [await me("ada"), await me("bo")];
		const refresh = (personId: string) =>
			ask(
				`mutation { refreshFeed(input: {personId: "${personId}"}) { viewer { feed { nodes { title } } } } }`,
				"bo",
			);
		await ask(
			`mutation { followPerson(input: {personId: "${ada}"}) { viewer { id } } }`,
			"bo",
		);
		assert.equal(await refresh(ada), "FORBIDDEN");
		assert.deepEqual(
			await ask(
				`{ node(id: "${bo}") { ... on Person { feedWaiting } } }`,
				"ada",
			),
			{ node: { feedWaiting: null } },
		);
		const refreshed = await refresh(bo);
		assert.match(JSON.stringify(refreshed), /"title":"Maker fair"/);
		const fair = await event("Maker fair");
		assert.deepEqual(
			await ask(
				`mutation { hideFromFeed(input: {eventId: "${fair}"}) { hiddenEventId viewer { feed { nodes { title } } } } }`,
				"bo",
			).then((one) => JSON.stringify(one).includes("Maker fair")),
			false,
		);
		assert.equal(
			JSON.stringify(await refresh(bo)).includes("Maker fair"),
			false,
		);
	});

	it("does not start with a feed that takes its items from a list that is ordered by a field", () => {
		const { feed } = events;
		assert.ok(feed);
		const from = feed.from.map((one) =>
			one.name === "group" ? { ...one, items: "scheduleEvent" } : one,
		);
		assert.throws(
			() => readApp({ ...events, feed: { ...feed, from } }),
			/The app's feed\.from\[1\]\.items names scheduleEvent, which is ordered by startsAt: a feed takes the newest items\./,
		);
	});

	it("keeps one answer of each person, whatever is sent at the same time", async () => {
		const fair = await event("Maker fair");
		const states = ["GOING", "MAYBE", "DECLINED", "GOING", "MAYBE", "GOING"];
		const ids = await Promise.all(
			states.map((state) =>
				ask<{ answerEvent: { attendance: { id: string } } }>(
					`mutation { answerEvent(input: {eventId: "${fair}", state: ${state}}) { attendance { id } } }`,
					"cy",
				),
			),
		);
		assert.equal(new Set(ids.map((id) => JSON.stringify(id))).size, 1);
		await ask(
			`mutation { answerEvent(input: {eventId: "${fair}", state: ATTENDED}) { event { id } } }`,
			"cy",
		);
		assert.deepEqual(
			await ask(
				`{ event(id: "${fair}") { attendances { totalCount } viewerAttendance { state } } }`,
				"cy",
			),
			{
				event: {
					attendances: { totalCount: 1 },
					viewerAttendance: { state: "ATTENDED" },
				},
			},
		);
	});

	it("lets one of many have a natural key, of one part or of two", async () => {
		const group =
			'mutation { createGroup(input: {slug: "one", name: "x"}) { group { slug } } }';
		const venue = (name: string) =>
			`mutation { createVenue(input: {city: "Graz", name: "${name}"}) { venue { name } } }`;
		const groups = await Promise.all(
			[group, group, group].map((one) => ask(one, "bo")),
		);
		assert.equal(groups.filter((one) => one === "CONFLICT").length, 2);
		assert.equal(await ask(venue("hall"), "bo"), "CONFLICT");
		assert.notEqual(await ask(venue("Barn"), "bo"), "CONFLICT");
		assert.deepEqual(
			await ask(
				'{ venue(by: {cityAndName: {city: "graz", name: "barn"}}) { name } }',
			),
			{ venue: { name: "Barn" } },
		);
	});

	it("says of what is hidden what it says of nothing, and FORBIDDEN of what is not", async () => {
		const [party, fair] = [
			await event("Surprise party"),
			await event("Maker fair"),
		];
		const talk = (id: string) =>
			`mutation { createTalk(input: {eventId: "${id}", title: "x"}) { talk { id } } }`;
		const remove = (id: string) =>
			`mutation { deleteEvent(input: {eventId: "${id}"}) { deletedEventId } }`;
		assert.equal(await ask(talk(party), "cy"), "NOT_FOUND");
		assert.equal(await ask(remove(party), "cy"), "NOT_FOUND");
		assert.equal(await ask(remove(fair), "cy"), "FORBIDDEN");
		// Who is invited sees it.
		assert.deepEqual(await ask(`{ event(id: "${party}") { title } }`, "bo"), {
			event: { title: "Surprise party" },
		});
	});

	it("gives roles by owners alone, and arranges a programme by its organizer alone", async () => {
		const fair = await event("Maker fair");
		const ids = await ask<{ group: { id: string }; person: { id: string } }>(
			'{ group(by: {slug: "makers"}) { id } person(by: {handle: "bo"}) { id } }',
		);
		assert.ok(typeof ids !== "string");
		const give = `mutation { giveRole(input: {groupId: "${ids.group.id}", personId: "${ids.person.id}", role: HOST}) { membership { role } group { memberships { totalCount } } } }`;
		assert.equal(await ask(give, "cy"), "FORBIDDEN");
		const given = {
			giveRole: {
				membership: { role: "HOST" },
				group: { memberships: { totalCount: 1 } },
			},
		};
		assert.deepEqual(await ask(give, "ada"), given);
		assert.deepEqual(await ask(give, "ada"), given);
		await ask(
			`mutation { createTalk(input: {eventId: "${fair}", title: "Later"}) { talk { id } } }`,
			"cy",
		);
		type Talks = {
			event: { talks: { nodes: { id: string; title: string }[] } };
		};
		const talks = async () => {
			const found = await ask<Talks>(
				`{ event(id: "${fair}") { talks { nodes { id title } } } }`,
			);
			assert.ok(typeof found !== "string");
			return found.event.talks.nodes;
		};
		const [first, last] = await talks();
		const move = `mutation { moveTalk(input: {talkId: "${last?.id}", beforeTalkId: "${first?.id}"}) { talk { id } } }`;
		assert.equal(await ask(move, "cy"), "FORBIDDEN");
		await ask(move, "ada");
		assert.deepEqual(
			(await talks()).map(({ id }) => id),
			[last?.id, first?.id],
		);
	});

	it("has the events of a group in the order in which they begin, and moves one that begins at another time", async () => {
		const found = await ask<{ group: { id: string } }>(
			'{ group(by: {slug: "makers"}) { id } }',
		);
		assert.ok(typeof found !== "string");
		const create = (title: string, startsAt: string, more = "") =>
			ask<{ createEvent: { event: { id: string } } }>(
				`mutation { createEvent(input: {groupId: "${found.group.id}", title: "${title}", startsAt: "${startsAt}"${more}}) { event { id } } }`,
				"ada",
			);
		// The fair of the demo is in March 2027.
		const later = await create("Later", "2027-09-01T09:00:00.000Z");
		await create("Soon", "2027-01-01T09:00:00.000Z");
		await create("Hidden", "2027-02-01T09:00:00.000Z", ", secret: true");
		assert.ok(typeof later !== "string");
		const titles = async (as: string) => {
			const answer = await ask<{
				group: { calendar: { nodes: { title: string }[] } };
			}>(
				'{ group(by: {slug: "makers"}) { calendar { nodes { title } } } }',
				as,
			);
			assert.ok(typeof answer !== "string");
			return answer.group.calendar.nodes.map(({ title }) => title);
		};
		assert.deepEqual(await titles("ada"), [
			"Soon",
			"Hidden",
			"Maker fair",
			"Later",
		]);
		assert.deepEqual(await titles("cy"), ["Soon", "Maker fair", "Later"]);
		assert.deepEqual(
			await ask(
				'{ group(by: {slug: "makers"}) { calendar(first: 1, startAt: "2027-02-01T00:00:00Z") { nodes { title } pageInfo { hasPreviousPage } } } }',
			),
			{
				group: {
					calendar: {
						nodes: [{ title: "Maker fair" }],
						pageInfo: { hasPreviousPage: true },
					},
				},
			},
		);
		const move = (startsAt: string) =>
			ask(
				`mutation { updateEvent(input: {eventId: "${later.createEvent.event.id}", startsAt: ${startsAt}}) { event { startsAt } } }`,
				"ada",
			);
		assert.deepEqual(await move('"2026-12-24T18:00:00.000Z"'), {
			updateEvent: { event: { startsAt: "2026-12-24T18:00:00.000Z" } },
		});
		assert.deepEqual(await titles("cy"), ["Later", "Soon", "Maker fair"]);
		assert.equal(await move("null"), "BAD_USER_INPUT");
	});

	it("invites to an event by its organizer alone, with the mutations that are made of the list", async () => {
		const party = await event("Surprise party");
		const found = await ask<{ person: { id: string } }>(
			'{ person(by: {handle: "cy"}) { id } }',
		);
		assert.ok(typeof found !== "string");
		const change = (name: string) =>
			`mutation { ${name}(input: {eventId: "${party}", personId: "${found.person.id}"}) { event { title invited { totalCount } } } }`;
		const answer = (name: string, totalCount: number) => ({
			[name]: { event: { title: "Surprise party", invited: { totalCount } } },
		});
		// Bo is invited and sees it; cy does not.
		assert.equal(await ask(change("invitePerson"), "bo"), "FORBIDDEN");
		assert.equal(await ask(change("invitePerson"), "cy"), "NOT_FOUND");
		for (let time = 0; time < 2; time++) {
			assert.deepEqual(
				await ask(change("invitePerson"), "ada"),
				answer("invitePerson", 2),
			);
		}
		assert.deepEqual(await ask(`{ event(id: "${party}") { title } }`, "cy"), {
			event: { title: "Surprise party" },
		});
		assert.deepEqual(
			await ask(change("uninvitePerson"), "ada"),
			answer("uninvitePerson", 1),
		);
		assert.deepEqual(await ask(`{ event(id: "${party}") { title } }`, "cy"), {
			event: null,
		});
	});
});
