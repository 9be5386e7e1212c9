import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
	followOutbox,
	type OutboxProof,
} from "../../src/freshness/outboxProof.ts";
import { seededRandom } from "../../src/util/random.ts";

/** A transaction that has its entry's id. */
interface Write {
	readonly id: number;
	state: "open" | "committed" | "rolledBack";
	/** The look before which it has to end: the one after the next. */
	readonly endsBefore: number;
	committedAt: number;
	/** Whether the reader knows of it. */
	isKnown: boolean;
}

/** docs/consistency.md "Without Redis for a time". */
describe("who learns from an outbox alone what others change", () => {
	it("knows everything that was committed before its proof, or has dropped it, however transactions and looks meet", () => {
		let drops = 0;
		let spared = 0;
		let checks = 0;
		for (let seed = 1; seed <= 500; seed++) {
			const random = seededRandom(seed);
			/** The share of entries that somebody publishes and deletes at once; none while Redis is away for all. */
			const published = random.pick([0, 0, 0.02, 0.5]);
			const rolledBack = random.pick([0, 0.05]);
			let now = 0;
			let looks = 0;
			let next = random.integer(1, 1_000);
			const writes: Write[] = [];
			const rows = new Set<number>();
			let proof: OutboxProof | null = null;
			const knowAll = () => {
				for (const write of writes) {
					if (write.state === "committed") write.isKnown = true;
				}
			};
			const end = (write: Write) => {
				if (random.chance(rolledBack)) {
					write.state = "rolledBack";
					return;
				}
				write.state = "committed";
				write.committedAt = now;
				if (!random.chance(published)) rows.add(write.id);
			};
			for (let step = 0; step < 200; step++) {
				now++;
				if (random.chance(0.5)) {
					writes.push({
						id: next++,
						state: "open",
						endsBefore: looks + 2,
						committedAt: Number.POSITIVE_INFINITY,
						isKnown: false,
					});
				}
				for (const write of writes) {
					if (write.state === "open" && random.chance(0.4)) end(write);
				}
				for (const id of rows) {
					if (random.chance(published * 0.5)) rows.delete(id);
				}
				if (!random.chance(0.3)) continue;
				looks++;
				for (const write of writes) {
					if (write.state === "open" && write.endsBefore <= looks) end(write);
				}
				const askedAt = ++now;
				// Those that were open when it was asked are of this look. The counter and the rows are read one after the other.
				const given = next;
				now++;
				for (const write of writes) {
					if (write.state === "open" && random.chance(0.2)) end(write);
				}
				const found = new Set(rows);
				now++;
				const taken = followOutbox(proof, { askedAt, next: given, found });
				if (taken.news === "all") {
					if (proof !== null) drops++;
					knowAll();
				} else {
					spared++;
					for (const write of writes) {
						if (taken.news.has(write.id)) write.isKnown = true;
					}
				}
				proof = taken.proof;
				const { provenAt } = proof;
				for (const { id, committedAt, isKnown } of writes) {
					if (committedAt >= provenAt) continue;
					checks++;
					assert.ok(isKnown, `seed ${seed}, step ${step}, entry ${id}`);
				}
			}
		}
		assert.ok(drops > 1_000, `only ${drops} drops`);
		assert.ok(spared > 1_000, `only ${spared} looks without one`);
		assert.ok(checks > 10_000, `only ${checks} checks`);
	});

	it("drops nothing while every transaction leaves its entry, and is a look behind at most", () => {
		const random = seededRandom(1);
		let next = 1;
		let proof: OutboxProof | null = null;
		const rows = new Set<number>();
		let open: number[] = [];
		for (let look = 1; look <= 500; look++) {
			for (const id of open) rows.add(id);
			open = [];
			for (let n = random.integer(0, 20); n > 0; n--) {
				if (random.chance(0.1)) open.push(next++);
				else rows.add(next++);
			}
			const before: OutboxProof | null = proof;
			const found = new Set(rows);
			const step = followOutbox(before, { askedAt: look, next, found });
			assert.equal(step.news === "all", look <= 2);
			assert.ok(step.proof.provenAt >= look - 1);
			proof = step.proof;
		}
	});
});
