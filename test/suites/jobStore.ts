import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { CorkboardError } from "../../src/errors.ts";
import { bucketOf, HOUR_US, hourOf } from "../../src/queue/bucket.ts";
import { type LocalId, newClaim, newLocalId } from "../../src/queue/jobId.ts";
import {
	type Ack,
	type ClaimedJob,
	type ClaimRange,
	type Job,
	type JobStore,
	MAX_STATUS,
	type NewJob,
	type Priority,
	type ShardOfQueue,
} from "../../src/queue/jobStore.ts";
import {
	STORAGE_CHANNELS,
	type WriteRetry,
} from "../../src/storage/diagnostics.ts";
import type { OpenJobs } from "../helpers/mysqlJobs.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import { until } from "../helpers/until.ts";

const QUEUE = "work";
const AT: ShardOfQueue = { queue: QUEUE, shard: 0 };
const SECOND_US = 1_000_000;

/** The behavior of a job store. Every backend runs it. */
export async function jobStoreSuite(
	name: string,
	open: () => Promise<OpenJobs & AsyncDisposable>,
): Promise<void> {
	const opened = await open();
	const { store } = opened;
	await store.createTables();
	for (const shard of store.shards) {
		await store.put(shard, { name: QUEUE, settings: {}, version: 1 });
	}
	describe(`the job store on ${name}`, () => {
		after(() => opened[Symbol.asyncDispose]());
		const jobs = jobsOf(store);
		/** A test that begins without jobs. */
		const test = (title: string, body: () => Promise<void>) =>
			it(title, async () => {
				for (const shard of store.shards) {
					await opened.empty({ queue: QUEUE, shard });
				}
				await body();
			});

		describe("enqueue", () => {
			test("stores a job as it was given, pending and due", async () => {
				const before = await store.now(0);
				const job = await jobs.make({
					body: '{"é":"\u2028\'\\\\"}',
					key: "a'b",
				});
				assert.deepEqual(await store.enqueue(AT, [job]), ["added"]);
				const [found] = await store.find(AT, [job], { body: true });
				const { at, ...rest } = found as Job;
				assert.ok(at >= before - SECOND_US, `${at} ${before}`);
				assert.deepEqual(rest, {
					local: job.local,
					bucket: job.bucket,
					state: "pending",
					priority: 2,
					claim: 0,
					attempts: 0,
					allowed: 2,
					createdAt: job.createdAt,
					key: "a'b",
					status: "",
					body: '{"é":"\u2028\'\\\\"}',
				});
			});

			test("adds nothing twice when it is repeated, in any state of the job", async () => {
				const some = await jobs.makeMany(5);
				assert.deepEqual(await store.enqueue(AT, some), Array(5).fill("added"));
				const repeat = async () => {
					assert.deepEqual(
						await store.enqueue(AT, some, { isRepeat: true }),
						Array(5).fill("there"),
					);
					assert.equal(await jobs.countAll(), 5);
				};
				await repeat();
				const [first, second, third] = await jobs.claim({ limit: 3 });
				await repeat();
				await jobs.say([
					{ ...held(first), kind: "succeed" },
					{ ...held(second), kind: "fail", delayMs: 3 * 3_600_000 },
					{ ...held(third), kind: "giveUp" },
				]);
				await repeat();
			});

			test("adds what is missing when a repeat finds only some, even if it forgot to say that it is one", async () => {
				const [one, two, three] = await jobs.makeMany(3);
				await store.enqueue(AT, [one as NewJob, three as NewJob]);
				assert.deepEqual(
					await store.enqueue(AT, [one, two, three] as NewJob[], {
						isRepeat: true,
					}),
					["there", "added", "there"],
				);
				await store.enqueue(AT, [one, two, three] as NewJob[]);
				assert.equal(await jobs.countAll(), 3);
			});

			test("adds nothing twice when it is repeated hours later: its bucket has closed", async () => {
				const now = await store.now(0);
				const old = now - 5 * HOUR_US;
				const there = await jobs.make({
					createdAt: old,
					bucket: hourOf(old),
					due: old,
				});
				const missing = await jobs.make({
					createdAt: old,
					bucket: hourOf(old),
					due: old,
				});
				assert.deepEqual(await store.enqueue(AT, [there]), ["added"]);
				assert.deepEqual(
					await store.enqueue(AT, [there, missing], { isRepeat: true }),
					["there", "added"],
				);
				assert.deepEqual(
					await store.enqueue(AT, [there, missing], { isRepeat: true }),
					["there", "there"],
				);
				assert.equal(await jobs.countAll(), 2);
				const claimed = await jobs.claim({ bucket: hourOf(now) });
				assert.equal(claimed.length, 2);
			});

			test("refuses what is no id, no priority, too long a key, or a job twice, and stores nothing of it", async () => {
				const good = await jobs.make();
				for (const wrong of [
					{ ...good, local: "0' OR '1" as LocalId },
					{ ...good, priority: 4 as Priority },
					{ ...good, key: "é".repeat(101) },
					{ ...good, allowed: 0 },
					{ ...good, bucket: 1.5 },
					{ ...good, due: Number.NaN },
				]) {
					await assert.rejects(
						store.enqueue(AT, [await jobs.make(), wrong]),
						TypeError,
					);
				}
				await assert.rejects(store.enqueue(AT, [good, good]), TypeError);
				await assert.rejects(
					store.enqueue({ queue: "a`; --", shard: 0 }, [good]),
					TypeError,
				);
				assert.equal(await jobs.countAll(), 0);
			});

			test("says NOT_FOUND for a queue or a shard that does not exist", async () => {
				const job = await jobs.make();
				for (const at of [
					{ queue: "nothing", shard: 0 },
					{ queue: QUEUE, shard: 7 },
				]) {
					await assert.rejects(store.enqueue(at, [job]), { code: "NOT_FOUND" });
					await assert.rejects(store.ackAndClaim(at, { claim: jobs.range() }), {
						code: "NOT_FOUND",
					});
					const [answer] = await store.due([
						{ at, buckets: [0, 1], priority: 1, floor: 0 },
					]);
					assert.equal((answer as { code: string }).code, "NOT_FOUND");
				}
			});
		});

		describe("a claim", () => {
			test("takes due jobs in order of their time, as many as asked for, and never one twice", async () => {
				const now = await store.now(0);
				const some = await Promise.all(
					[30, 10, 20].map((ago) => jobs.make({ due: now - ago * SECOND_US })),
				);
				// A time that is past is the present, so the order is that of the enqueues.
				for (const job of some) await store.enqueue(AT, [job]);
				const later = await jobs.make({ due: now + 3_600 * SECOND_US });
				await store.enqueue(AT, [later]);
				const first = await jobs.claim({ limit: 2 });
				assert.deepEqual(locals(first), locals(some.slice(0, 2)));
				const second = await jobs.claim({ limit: 5 });
				assert.deepEqual(locals(second), locals(some.slice(2)));
				assert.deepEqual(await jobs.claim(), []);
				const [running] = await store.find(AT, [first[0] as ClaimedJob]);
				assert.equal(running?.state, "running");
				assert.equal(running?.attempts, 1);
				assert.equal(running?.claim, first[0]?.claim);
				assert.equal(running?.at, first[0]?.until);
			});

			test("gives each job with all that its handler needs", async () => {
				const job = await jobs.make({ key: "k", body: "B", allowed: 7 });
				await store.enqueue(AT, [job]);
				const before = await store.now(0);
				const [claimed] = await jobs.claim({ claimMs: 60_000 });
				const { claim, dueAt, until, ...rest } = claimed as ClaimedJob;
				assert.ok(claim > 0 && dueAt <= until);
				assert.ok(Math.abs(until - before - 60 * SECOND_US) < 60 * SECOND_US);
				assert.deepEqual(rest, {
					local: job.local,
					bucket: job.bucket,
					priority: 2,
					attempts: 1,
					allowed: 7,
					createdAt: job.createdAt,
					key: "k",
					body: "B",
				});
			});

			test("takes only jobs of its priority and its queue's shard", async () => {
				const [one, two] = await jobs.makeMany(2);
				await store.enqueue(AT, [{ ...(one as NewJob), priority: 1 }]);
				await store.enqueue({ ...AT, shard: 1 }, [two as NewJob]);
				assert.deepEqual(await jobs.claim(), []);
				assert.deepEqual(locals(await jobs.claim({ priority: 1 })), [
					one?.local,
				]);
			});

			test("looks at nothing below its floor, and finds it from 0", async () => {
				const job = await jobs.make();
				await store.enqueue(AT, [job]);
				const floor = (await store.now(0)) + 5 * SECOND_US;
				assert.deepEqual(await jobs.claim({ floor }), []);
				assert.deepEqual(await jobs.due({ floor }), null);
				assert.equal((await jobs.claim({ floor: 0 })).length, 1);
			});

			test("shares a commit with the words for jobs that are done", async () => {
				await store.enqueue(AT, await jobs.makeMany(2));
				const [first] = await jobs.claim({ limit: 1 });
				const { acked, claimed } = await store.ackAndClaim(AT, {
					acks: [{ ...held(first), kind: "succeed" }],
					claim: jobs.range({ bucket: held(first).bucket }),
				});
				assert.deepEqual(acked, ["done"]);
				assert.equal(claimed.length, 1);
				assert.equal(await jobs.stateOf(first), "succeeded");
			});
		});

		describe("limits of a shard", () => {
			const limits = { perSecond: 0.001, burst: 3, maxRunning: null };
			test("let a claim start no more jobs than there are tokens, and say how long to wait", async () => {
				const some = await jobs.makeMany(9);
				await store.enqueue(AT, some);
				const bucket = some[8]?.bucket as number;
				const turn = () =>
					store.ackAndClaim(AT, { claim: jobs.range({ bucket, limits }) });
				const first = await turn();
				assert.equal(first.claimed.length, 3);
				const second = await turn();
				assert.deepEqual(second.claimed, []);
				assert.ok((second.waitMs ?? 0) > 900_000, String(second.waitMs));
			});

			test("let no more jobs run at once than they say, and as many again when some have ended", async () => {
				await store.enqueue(AT, await jobs.makeMany(9));
				const at = { limits: { perSecond: null, burst: 1, maxRunning: 4 } };
				const claimed = await jobs.claim(at);
				assert.equal(claimed.length, 4);
				assert.deepEqual(await jobs.claim(at), []);
				await jobs.say(
					claimed.slice(0, 3).map((job) => ({ ...held(job), kind: "succeed" })),
				);
				assert.equal((await jobs.claim(at)).length, 3);
			});

			test("let nothing start while they allow nothing", async () => {
				await store.enqueue(AT, await jobs.makeMany(2));
				const paused = { perSecond: 0, burst: 1, maxRunning: null };
				assert.deepEqual(await jobs.claim({ limits: paused }), []);
				assert.equal((await jobs.claim()).length, 2);
			});
		});

		describe("a worker's word", () => {
			test("ends its claim as it says", async () => {
				await store.enqueue(AT, await jobs.makeMany(5));
				const [a, b, c, d, e] = await jobs.claim();
				const now = await store.now(0);
				assert.deepEqual(
					await jobs.say([
						{ ...held(a), kind: "succeed" },
						{ ...held(b), kind: "fail", delayMs: 60_000, status: "Oh." },
						{ ...held(c), kind: "giveUp", status: "No." },
						{ ...held(d), kind: "release", delayMs: 0 },
						{ ...held(e), kind: "again", delayMs: 5_000, body: "next" },
					]),
					["done", "done", "done", "done", "done"],
				);
				const found = await store.find(AT, [a, b, c, d, e] as ClaimedJob[], {
					body: true,
				});
				assert.deepEqual(
					found.map((job) => [job?.state, job?.attempts, job?.status]),
					[
						["succeeded", 1, ""],
						["pending", 1, "Oh."],
						["failed", 1, "No."],
						["pending", 0, ""],
						["pending", 0, ""],
					],
				);
				assert.equal(found[4]?.body, "next");
				const inSeconds = found.map(
					(job) => ((job?.at ?? 0) - now) / SECOND_US,
				);
				for (const [at, least] of [
					[1, 60],
					[3, 0],
					[4, 5],
				] as const) {
					const delay = inSeconds[at] as number;
					assert.ok(delay > least - 1 && delay < least + 60, String(delay));
				}
				// The released one is the only one that is due.
				assert.deepEqual(locals(await jobs.claim()), [d?.local]);
			});

			test("fails a job for good at the last of its starts", async () => {
				await store.enqueue(AT, [await jobs.make({ allowed: 2 })]);
				const [first] = await jobs.claim();
				await jobs.say([{ ...held(first), kind: "fail", delayMs: 0 }]);
				const [second] = await jobs.claim();
				assert.equal(second?.attempts, 2);
				await jobs.say([{ ...held(second), kind: "fail", delayMs: 0 }]);
				assert.equal(await jobs.stateOf(second), "failed");
				assert.deepEqual(await jobs.claim(), []);
			});

			test("is done again when it is said again, whatever it was", async () => {
				await store.enqueue(AT, await jobs.makeMany(5));
				const [a, b, c, d, e] = await jobs.claim();
				const acks: readonly Ack[] = [
					{ ...held(a), kind: "succeed" },
					{ ...held(b), kind: "fail", delayMs: 3_600_000 * 4 },
					{ ...held(c), kind: "giveUp" },
					{ ...held(d), kind: "release", delayMs: 0 },
					{ ...held(e), kind: "again", delayMs: 60_000 },
				];
				assert.deepEqual(await jobs.say(acks), Array(5).fill("done"));
				const before = await store.find(AT, acks);
				assert.deepEqual(await jobs.say(acks), Array(5).fill("done"));
				assert.deepEqual(await store.find(AT, acks), before);
			});

			test("changes nothing once the claim is lost, to another worker or to nobody", async () => {
				await store.enqueue(AT, await jobs.makeMany(2, { allowed: 9 }));
				const [first, second] = await jobs.claim({ claimMs: 1 });
				await jobs.expireAll(2);
				const [again] = await jobs.claim({ limit: 1 });
				assert.equal(again?.local, first?.local);
				const kinds: readonly Partial<Ack>[] = [
					{ kind: "succeed" },
					{ kind: "fail", delayMs: 0, status: "late" },
					{ kind: "giveUp" },
					{ kind: "release", delayMs: 0 },
					{ kind: "again", delayMs: 0 },
					{ kind: "checkpoint", body: "late" },
				];
				const before = await store.find(AT, [first, second] as ClaimedJob[]);
				for (const kind of kinds) {
					const acks = [first, second].map((job) => ({
						...held(job),
						...kind,
					})) as Ack[];
					assert.deepEqual(await jobs.say(acks), ["lost", "lost"]);
				}
				const [absent] = await jobs.makeMany(1);
				assert.deepEqual(
					await jobs.say([
						{ ...(absent as NewJob), claim: 1, kind: "succeed" },
					]),
					["absent"],
				);
				assert.deepEqual(
					await store.find(AT, [first, second] as ClaimedJob[]),
					before,
				);
				assert.deepEqual(
					await store.renew(AT, [held(first), held(second)], 60_000),
					[],
				);
			});

			test("keeps what a checkpoint stored for the next start, and the newest of its status", async () => {
				await store.enqueue(AT, [await jobs.make({ body: "0" })]);
				const [first] = await jobs.claim();
				const until = first?.until;
				await jobs.say([
					{
						...held(first),
						kind: "checkpoint",
						body: "half",
						status: "half done",
						allowed: 5,
					},
				]);
				const [running] = await store.find(AT, [first as ClaimedJob]);
				assert.equal(running?.state, "running");
				assert.equal(running?.at, until);
				await jobs.say([
					{
						...held(first),
						kind: "fail",
						delayMs: 0,
						status: `${"é".repeat(MAX_STATUS - 3)}end`,
					},
				]);
				const [second] = await jobs.claim();
				assert.equal(second?.body, "half");
				assert.equal(second?.allowed, 5);
				const [job] = await store.find(AT, [second as ClaimedJob]);
				assert.equal(job?.status.length, MAX_STATUS);
				assert.ok(job?.status.endsWith("end"));
			});
		});

		describe("time", () => {
			test("ends claims that are not renewed: they are pending again after a delay, or failed", async () => {
				await store.enqueue(AT, [
					await jobs.make({ allowed: 1 }),
					await jobs.make({ allowed: 2 }),
				]);
				assert.equal(await jobs.hasExpired(), false);
				const claimed = await jobs.claim({ claimMs: 1 });
				assert.equal(claimed.length, 2);
				await until("the claims are over", () => jobs.hasExpired());
				const { bucket } = claimed[0] as ClaimedJob;
				assert.equal(await jobs.hasExpired([bucket - 1, bucket]), true);
				assert.deepEqual(await jobs.expireAll(2, 60_000), {
					again: 1,
					failed: 1,
				});
				assert.equal(await jobs.hasExpired(), false);
				const found = await store.find(AT, claimed);
				assert.deepEqual(
					found.map((job) => job?.state),
					["failed", "pending"],
				);
				assert.deepEqual(await jobs.claim(), []);
				assert.ok((found[1]?.at ?? 0) > (await store.now(0)));
			});

			test("is given to a claim that is renewed", async () => {
				await store.enqueue(AT, await jobs.makeMany(3));
				const claimed = await jobs.claim({ claimMs: 1 });
				await jobs.say([{ ...held(claimed[1]), kind: "succeed" }]);
				assert.deepEqual(await store.renew(AT, claimed.map(held), 3_600_000), [
					held(claimed[0]),
					held(claimed[2]),
				]);
				assert.deepEqual(await jobs.expireAll(0), { again: 0, failed: 0 });
				assert.equal(await jobs.stateOf(claimed[0]), "running");
			});

			test("is said to those who ask when a job is due next", async () => {
				assert.equal(await jobs.due(), null);
				const now = await store.now(0);
				const later = await jobs.make({ due: now + 1_800 * SECOND_US });
				await store.enqueue(AT, [later]);
				const next = await jobs.due({ buckets: [0, later.bucket] });
				assert.deepEqual(next, { bucket: later.bucket, at: later.due });
				const soon = await jobs.make();
				await store.enqueue(AT, [soon]);
				const due = await jobs.due();
				assert.equal(due?.bucket, soon.bucket);
				assert.ok((due?.at ?? 0) < later.due);
				assert.equal(await jobs.due({ priority: 3 }), null);
			});

			test("does not matter to a job that waits for a far hour: it is claimed when that has come, from the bucket it is in", async () => {
				const now = await store.now(0);
				const far = await jobs.make({ due: now + 100 * HOUR_US });
				assert.equal(far.bucket, hourOf(now) + 24);
				await store.enqueue(AT, [far]);
				assert.deepEqual(await jobs.claim({ bucket: far.bucket }), []);
				assert.equal(
					await store.change(AT, [far], { kind: "reschedule", due: 0 }),
					1,
				);
				assert.deepEqual(locals(await jobs.claim()), [far.local]);
			});
		});

		describe("a key", () => {
			test("merges jobs into the one that is pending, and into none that has begun", async () => {
				const [one, two, three, four] = await jobs.makeMany(4, { key: "k" });
				assert.deepEqual(await store.enqueue(AT, [one, two] as NewJob[]), [
					"added",
					{ mergedInto: one?.local },
				]);
				assert.deepEqual(await store.enqueue(AT, [three as NewJob]), [
					{ mergedInto: one?.local },
				]);
				assert.equal((await jobs.claim()).length, 1);
				assert.deepEqual(await store.enqueue(AT, [four as NewJob]), ["added"]);
				assert.equal(await jobs.countAll(), 2);
			});

			test("is free after its enqueue was repeated for a job that has begun", async () => {
				const [one, two] = await jobs.makeMany(2, { key: "k" });
				await store.enqueue(AT, [one as NewJob]);
				await jobs.claim();
				assert.deepEqual(
					await store.enqueue(AT, [one as NewJob], { isRepeat: true }),
					["there"],
				);
				assert.deepEqual(await store.enqueue(AT, [one as NewJob]), ["there"]);
				assert.deepEqual(await store.enqueue(AT, [two as NewJob]), ["added"]);
				assert.equal((await jobs.claim()).length, 1);
			});

			test("is given up by a job that fails while a newer one has it: both run", async () => {
				const [one, two, three] = await jobs.makeMany(3, {
					key: "k",
					allowed: 9,
				});
				await store.enqueue(AT, [one as NewJob]);
				const [first] = await jobs.claim({ claimMs: 1 });
				await store.enqueue(AT, [two as NewJob]);
				await jobs.expireAll(1);
				const claimed = await jobs.claim();
				assert.deepEqual(
					locals(claimed).toSorted(),
					locals([one, two] as NewJob[]).toSorted(),
				);
				const [old] = await store.find(AT, [first as ClaimedJob]);
				assert.equal(old?.key, null);
				// The newer one keeps it when it fails.
				const newer = claimed.find(({ local }) => local === two?.local);
				await jobs.say([{ ...held(newer), kind: "fail", delayMs: 0 }]);
				assert.deepEqual(await store.enqueue(AT, [three as NewJob]), [
					{ mergedInto: two?.local },
				]);
			});

			test("is of bytes: neither case nor trailing spaces are ignored", async () => {
				const keys = ["k", "K", "k ", "é", "e"];
				for (const key of keys) {
					assert.deepEqual(
						await store.enqueue(AT, [await jobs.make({ key })]),
						["added"],
						key,
					);
				}
			});

			test("is free again when its pending job is removed", async () => {
				const [one, two] = await jobs.makeMany(2, { key: "k" });
				await store.enqueue(AT, [one as NewJob]);
				assert.equal(
					await store.change(AT, [one as NewJob], { kind: "remove" }),
					1,
				);
				assert.deepEqual(await store.enqueue(AT, [two as NewJob]), ["added"]);
			});
		});

		describe("operators", () => {
			test("frees a running job whatever its claim says, and its worker reports nothing more of it", async () => {
				await store.enqueue(AT, [await jobs.make({ allowed: 1 })]);
				const [first] = await jobs.claim({ claimMs: 86_400_000 });
				const retry = { kind: "retry", due: 0, moreAttempts: 1 } as const;
				const some = [first as ClaimedJob];
				assert.equal(await store.change(AT, some, retry), 0);
				const freed = { ...retry, running: true };
				assert.equal(await store.change(AT, some, freed), 1);
				assert.deepEqual(
					await jobs.say([{ ...held(first), kind: "succeed" }]),
					["lost"],
				);
				const [second] = await jobs.claim();
				assert.equal(second?.local, first?.local);
				assert.equal(second?.attempts, 2);
			});

			test("retry failed jobs, reschedule pending ones, and remove any but running ones", async () => {
				await store.enqueue(AT, await jobs.makeMany(4, { allowed: 1 }));
				const [a, b, c] = await jobs.claim({ limit: 3 });
				await jobs.say([
					{ ...held(a), kind: "fail", delayMs: 0 },
					{ ...held(b), kind: "succeed" },
				]);
				const all = (await jobs.all()) as readonly Job[];
				const retry = { kind: "retry", due: 0, moreAttempts: 1 } as const;
				assert.equal(await store.change(AT, all, retry), 1);
				assert.equal(await store.change(AT, all, retry), 0);
				const far = (await store.now(0)) + HOUR_US;
				assert.equal(
					await store.change(AT, all, { kind: "reschedule", due: far }),
					2,
				);
				assert.deepEqual(await jobs.claim(), []);
				assert.equal(
					await store.change(AT, all, { kind: "reschedule", due: 0 }),
					2,
				);
				const again = await jobs.claim();
				assert.equal(again.length, 2);
				assert.deepEqual(
					again.find(({ local }) => local === a?.local)?.attempts,
					2,
				);
				assert.equal(await store.change(AT, all, { kind: "remove" }), 1);
				assert.equal(await jobs.stateOf(b), undefined);
				assert.equal(await jobs.stateOf(c), "running");
			});

			test("page through jobs in a stable order, by state, time and text", async () => {
				const some = await jobs.makeMany(7);
				for (const [at, job] of some.entries()) {
					await store.enqueue(AT, [
						{ ...job, body: `{"n":${at},"t":"a%_${at % 2}"}` },
					]);
				}
				const seen: string[] = [];
				let after: { at: number; local: LocalId } | undefined;
				for (let pages = 0; pages < 5; pages++) {
					const { jobs: page, next } = await store.scan(AT, {
						state: "pending",
						priority: 2,
						limit: 3,
						...(after && { after }),
					});
					seen.push(...page.map(({ local }) => local));
					if (next === null) break;
					after = next;
				}
				assert.deepEqual(seen, locals(some));
				const { jobs: matching } = await store.scan(AT, {
					state: "pending",
					priority: 2,
					limit: 100,
					matching: '"a%_1"',
					body: true,
				});
				assert.deepEqual(
					matching.map(({ body }) => JSON.parse(body ?? "").n),
					[1, 3, 5],
				);
				const { jobs: none } = await store.scan(AT, {
					state: "pending",
					priority: 2,
					limit: 100,
					matching: "A%",
				});
				assert.deepEqual(none, []);
				const now = await store.now(0);
				const { jobs: future } = await store.scan(AT, {
					state: "pending",
					priority: 2,
					limit: 100,
					from: now + 60 * SECOND_US,
				});
				assert.deepEqual(future, []);
			});

			test("count no further than they want to", async () => {
				await store.enqueue(AT, await jobs.makeMany(9));
				await store.enqueue(AT, [
					await jobs.make({ due: (await store.now(0)) + HOUR_US, priority: 3 }),
				]);
				const count = (cap: number, more = {}) =>
					store.count(AT, { state: "pending", ...more }, cap);
				assert.equal(await count(100), 10);
				assert.equal(await count(4), 4);
				assert.equal(await count(100, { priority: 3 }), 1);
				const soon = (await store.now(0)) + 60 * SECOND_US;
				assert.equal(await count(100, { until: soon }), 9);
				assert.equal(await count(100, { from: soon }), 1);
				assert.equal(await store.count(AT, { state: "failed" }, 9), 0);
			});

			test("create queues, change their settings in order, and drop them with their jobs", async () => {
				const at = { queue: "other", shard: 0 };
				const row = (version: number) => ({
					name: "other",
					settings: { v: version },
					version,
				});
				await store.put(0, row(1));
				await store.put(0, row(3));
				await store.put(0, row(2));
				await store.enqueue(at, [await jobs.make()]);
				assert.deepEqual(await store.queues(0), [
					row(3),
					{ name: QUEUE, settings: {}, version: 1 },
				]);
				const [first, second, absent] = await store.queuesOn([0, 1, 7]);
				assert.deepEqual(first, await store.queues(0));
				assert.deepEqual(second, await store.queues(1));
				assert.equal((absent as CorkboardError).code, "NOT_FOUND");
				await store.drop(at);
				await store.drop(at);
				assert.deepEqual(
					(await store.queues(0)).map(({ name }) => name),
					[QUEUE],
				);
				await assert.rejects(store.enqueue(at, [await jobs.make()]), {
					code: "NOT_FOUND",
				});
			});

			test("see which shards there are, and which take new jobs", async () => {
				assert.deepEqual(store.shards, [0, 1]);
				assert.deepEqual(store.openShards, [0]);
				assert.ok(store.hostOf(1));
				assert.equal(store.hostOf(2), null);
				assert.deepEqual(await store.missingTables(), []);
			});
		});

		describe("many at once", () => {
			test("claimers and enqueuers meet without a deadlock, and no job has two valid claims", async () => {
				const seed = Math.floor(Math.random() * 2 ** 31);
				console.log(`seed ${seed}`);
				const stores = [store, await opened.another(), await opened.another()];
				try {
					const retries = await publishedDuring<WriteRetry>(
						STORAGE_CHANNELS.writeRetry,
						() => crowd(stores, seed),
					);
					assert.deepEqual(
						retries.filter(({ reason }) => reason === "deadlock"),
						[],
					);
				} finally {
					for (const other of stores.slice(1)) {
						if (other !== store) await other[Symbol.asyncDispose]();
					}
				}
			});
		});
	});
}

/** Producers and workers that do all there is to do, at random, until every job has ended. */
async function crowd(stores: readonly JobStore[], seed: number): Promise<void> {
	const random = randomFrom(seed);
	const wanted = 160;
	const ended = new Set<LocalId>();
	/** Jobs and the moments until which nobody else may have them, as their worker knows. */
	const held = new Map<LocalId, { claim: number; until: number }>();
	const merged = new Set<LocalId>();
	let produced = 0;
	const produce = async (store: JobStore) => {
		while (produced < wanted) {
			const count = Math.min(wanted - produced, 1 + Math.floor(random() * 9));
			produced += count;
			const now = await store.now(0);
			const some = Array.from({ length: count }, () => ({
				local: newLocalId(),
				bucket: bucketOf(now, now),
				priority: 2 as Priority,
				due: now,
				allowed: 1_000,
				createdAt: now,
				key: random() < 0.3 ? `k${Math.floor(random() * 4)}` : null,
				body: "{}",
			}));
			const answers = await store.enqueue(AT, some);
			const again = await store.enqueue(AT, some, { isRepeat: true });
			for (const [at, { local }] of some.entries()) {
				if (typeof answers[at] === "object") {
					// A repeat finds the key free if its job has begun meanwhile.
					if (typeof again[at] === "object") merged.add(local);
				} else assert.equal(again[at], "there");
			}
		}
	};
	const deadline = performance.now() + 60_000;
	const work = async (store: JobStore) => {
		const mine = new Map<LocalId, ClaimedJob>();
		while (ended.size + merged.size < wanted) {
			assert.ok(
				performance.now() < deadline,
				`${ended.size} ended, ${merged.size} merged`,
			);
			const acks: Ack[] = [...mine.values()].map((job) => {
				const dice = random();
				const { local, bucket, claim } = job;
				return dice < 0.6
					? { local, bucket, claim, kind: "succeed" }
					: {
							local,
							bucket,
							claim,
							kind: dice < 0.8 ? "fail" : "release",
							delayMs: 0,
							status: "again",
						};
			});
			if (random() < 0.3) {
				await store.renew(AT, [...mine.values()].map(heldOf), 60_000);
			}
			// From here on the word may have come, and somebody else may claim the job.
			for (const { local, claim } of acks) {
				if (held.get(local)?.claim === claim) held.delete(local);
			}
			mine.clear();
			const claim: ClaimRange = {
				bucket: hourOf(await store.now(0)),
				priority: 2,
				floor: 0,
				limit: 1 + Math.floor(random() * 12),
				claim: newClaim(),
				claimMs: 60_000,
			};
			const { acked, claimed } = await store.ackAndClaim(AT, { acks, claim });
			for (const [at, ack] of acks.entries()) {
				assert.equal(acked[at], "done");
				if (ack.kind === "succeed") ended.add(ack.local);
			}
			for (const job of claimed) {
				assert.ok(!ended.has(job.local), "a job was claimed after its success");
				const other = held.get(job.local);
				assert.equal(other, undefined, "a job has two valid claims");
				held.set(job.local, { claim: job.claim, until: job.until });
				mine.set(job.local, job);
			}
			await store.expire(AT, { limit: 50, delayMs: () => 0 });
		}
	};
	await Promise.all([
		...stores.map(produce),
		...stores.map(work),
		...stores.map(work),
	]);
}

function randomFrom(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

function heldOf({ local, bucket, claim }: ClaimedJob) {
	return { local, bucket, claim };
}

function held(job: ClaimedJob | undefined) {
	assert.ok(job, "nothing was claimed");
	return heldOf(job);
}

function locals(jobs: readonly { readonly local: LocalId }[]) {
	return jobs.map(({ local }) => local);
}

/** Short forms of the calls, for shard 0 and priority 2. */
function jobsOf(store: JobStore) {
	const make = async (more: Partial<NewJob> = {}): Promise<NewJob> => {
		const now = await store.now(0);
		const due = more.due ?? now;
		return {
			local: newLocalId(),
			bucket: bucketOf(due, now),
			priority: 2,
			due,
			allowed: 2,
			createdAt: now,
			key: null,
			body: "{}",
			...more,
		};
	};
	const range = (more: Partial<ClaimRange> = {}): ClaimRange => ({
		bucket: 1,
		priority: 2,
		floor: 0,
		limit: 100,
		claim: newClaim(),
		claimMs: 600_000,
		...more,
	});
	const all = async () => {
		const found: Job[] = [];
		for (const state of [
			"pending",
			"running",
			"succeeded",
			"failed",
		] as const) {
			for (const priority of [1, 2, 3] as const) {
				const scan = { state, priority, limit: 1_000 };
				found.push(...(await store.scan(AT, scan)).jobs);
			}
		}
		return found;
	};
	return {
		make,
		range,
		all,
		makeMany: (count: number, more: Partial<NewJob> = {}) =>
			Promise.all(Array.from({ length: count }, () => make(more))),
		/** From the present hour, unless one is given; what was enqueued at its very end may be in the one before. */
		async claim(more: Partial<ClaimRange> = {}) {
			const hour = hourOf(await store.now(0));
			const claimed: ClaimedJob[] = [];
			for (const bucket of more.bucket === undefined
				? [hour - 1, hour]
				: [more.bucket]) {
				const limit = (more.limit ?? 100) - claimed.length;
				if (limit === 0) break;
				const claim = range({ ...more, bucket, limit });
				claimed.push(...(await store.ackAndClaim(AT, { claim })).claimed);
			}
			return claimed;
		},
		async say(acks: readonly Ack[]) {
			return (await store.ackAndClaim(AT, { acks })).acked;
		},
		async stateOf(job: ClaimedJob | undefined) {
			const [found] = await store.find(AT, [job as ClaimedJob]);
			return found?.state;
		},
		/** Expires claims until so many have ended. */
		async expireAll(count: number, delayMs = 0) {
			let again = 0;
			let failed = 0;
			const deadline = performance.now() + 60_000;
			do {
				const some = await store.expire(AT, {
					limit: 10,
					delayMs: () => delayMs,
				});
				again += some.again;
				failed += some.failed;
				assert.ok(performance.now() < deadline);
			} while (again + failed < count);
			return { again, failed };
		},
		/** Whether there are claims that are over, and no error if there is no such queue. */
		async hasExpired(buckets?: readonly [number, number]) {
			const [answer, absent] = await store.hasExpired([
				{ at: AT, ...(buckets !== undefined && { buckets }) },
				{ at: { ...AT, queue: "absent" } },
			]);
			assert.equal((absent as CorkboardError).code, "NOT_FOUND");
			assert.ok(typeof answer === "boolean", String(answer));
			return answer;
		},
		async due(
			more: {
				readonly buckets?: readonly [number, number];
				readonly priority?: Priority;
				readonly floor?: number;
			} = {},
		) {
			const hour = hourOf(await store.now(0));
			const [answer = null] = await store.due([
				{ at: AT, buckets: [hour - 1, hour], priority: 2, floor: 0, ...more },
			]);
			assert.ok(!(answer instanceof Error), String(answer));
			return answer;
		},
		async countAll() {
			return (await all()).length;
		},
	};
}
