import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findApp } from "../../../src/app/findApp.ts";
import {
	type Corkboard,
	openCorkboard,
} from "../../../src/app/openCorkboard.ts";
import { scrape } from "../../../src/cli/top/scrape.ts";
import { readConfig } from "../../../src/config/config.ts";
import type { Id } from "../../../src/id/ids.ts";
import { everyObject } from "../../../src/testing/everyObject.ts";
import { type Random, seededRandom } from "../../../src/util/random.ts";
import { reservePort } from "../../services/port.ts";
import type { ApiServer } from "../graph/apiServer.ts";
import { type AttackFleet, startAttackFleet } from "../graph/attackFleet.ts";
import type { ResponseError, Violation } from "../graph/checks.ts";
import { FaultInjector } from "../graph/faults.ts";
import { checkLogs, settle, verifyAll } from "../graph/finish.ts";
import { BOUNDS } from "../graph/register.ts";
import { type Fault, scheduleFaults } from "../graph/schedule.ts";
import { pickServer, type Session, sendAs } from "../graph/session.ts";
import {
	importLines,
	sessionWithoutModel,
} from "../graph/sessionWithoutModel.ts";
import type { Outcome, TrialContext } from "../world.ts";
import { changeRows } from "./changeRows.ts";
import { linesOfGraph } from "./graph.ts";
import { judge } from "./judge.ts";
import {
	type Known,
	nextPage,
	type Owned,
	type Question,
	randomChange,
	randomQuestion,
	type Viewer,
} from "./questions.ts";

export interface ViewersOptions {
	readonly seed: number;
	/** How many answers are compared. */
	readonly answers: number;
	readonly servers: number;
	/** A round takes so long. */
	readonly seconds: number;
	/** Rows that are changed past the program, which no cache notices. */
	readonly defects: number;
}

const APP = join(import.meta.dirname, "../../../pins");
/** The memory of each server, in megabytes for entries and answers: one keeps much, one has room for little, one for hardly anything. */
const CACHES = [
	[96, 64],
	[2, 1],
	[1, 1],
] as const;
const READERS = 8;
const WRITERS = 4;
const MOST_WRONG = 3;
/** So many answers are compared after the faults of a round. */
const AFTERWARDS = 6_000;
/** How often each is asked for then. */
const TIMES = 3;
/** How often a server is asked that lacks something. */
const IMPAIRED = 0.3;
const MOST_PAGES = 12;
/** Questions that are asked again and again. */
const HOT = 150;

/**
 * Compares what viewers get from a fleet that caches with what is stored: a reader
 * of the same databases answers it that keeps nothing. In rounds: clients
 * write and faults happen; then all of that ends, and everything that is shown has to be what is stored.
 */
export async function attackViewers(
	{ seed, answers, servers, seconds, defects }: ViewersOptions,
	{ say, signal: interrupt, keep }: TrialContext,
): Promise<Outcome> {
	const broken: string[] = [];
	const over = new AbortController();
	interrupt.addEventListener("abort", () => over.abort());
	const report = (one: Violation) => {
		const text = `${one.promised}, but: ${one.seen}`;
		say(text);
		if (broken.push(text) >= MOST_WRONG) over.abort();
	};
	await using stack = new AsyncDisposableStack();
	const admins: string[] = [];
	for (let n = 0; n < servers; n++) {
		const { port } = stack.use(await reservePort());
		admins.push(`127.0.0.1:${port}`);
	}
	await using fleet = await startAttackFleet({
		servers,
		settingsOf: (number) => {
			const [entries, whole] = CACHES[number % CACHES.length] ?? CACHES[0];
			return {
				CORKBOARD_ADMIN: admins[number] ?? "",
				CORKBOARD_CACHE_MB: `${entries}`,
				CORKBOARD_ANSWER_CACHE_MB: `${whole}`,
			};
		},
		ended: ({ number }, how) =>
			report({
				kind: "process",
				promised: "no server ends by itself",
				seen: `server ${number} ended: ${how}`,
				objects: [],
			}),
	});
	const random = seededRandom(seed);
	await importLines(fleet, linesOfGraph(random));
	await using reader = await openReader(fleet);
	const known = await readKnown(reader);
	// What is stored says what may be shown.
	const session = sessionWithoutModel(fleet, report, over.signal);
	const comparison = new Comparison(session, reader, known, random);
	const kept = { objects: 0, heads: 0, lookups: 0, answers: 0 };
	let faults = 0;
	for (let round = 0; comparison.compared < answers; round++) {
		if (over.signal.aborted) break;
		const stop = new AbortController();
		const end = setTimeout(() => stop.abort(), seconds * 1_000);
		const signal = AbortSignal.any([over.signal, stop.signal]);
		const own: Session = { ...session, signal };
		const injector = new FaultInjector(
			own,
			[],
			seededRandom(seed + 1_000 * round + 1),
			say,
		);
		const schedule = scheduleFaults(
			seed + round,
			seconds * 1_000,
			servers,
		).filter(isOfCaches);
		await Promise.all([
			injector.run(schedule),
			...repeated(WRITERS, () => write(own, known, random)),
			...repeated(READERS, () => comparison.readUntil(signal)),
		]);
		clearTimeout(end);
		faults += injector.count;
		if (over.signal.aborted) break;
		await settle(session);
		if (defects > 0) {
			const { mysql0, mysql1 } = fleet.services;
			await changeRows([mysql0, mysql1], defects);
		}
		const before = await keptOf(admins);
		await comparison.finish(
			comparison.compared + Math.min(answers, AFTERWARDS),
		);
		const after = await keptOf(admins);
		for (const [n, cache] of LOCAL_CACHES.entries()) {
			kept[cache] += (after[n] ?? 0) - (before[n] ?? 0);
		}
		say(
			`round ${round}: ${comparison.compared} answers compared, ${comparison.late} of them late, ${comparison.wrong} wrong, ${comparison.failed} requests without an answer, ${session.statistics.acknowledged} writes, ${faults} faults`,
		);
	}
	if (!over.signal.aborted) await verifyAll(session);
	await checkLogs(session);
	if (broken.length > 0) {
		await keep(
			fleet.servers.map(({ logFile, number }) => [
				logFile,
				`server${number}.log`,
			]),
		);
	}
	const { compared, underFaults, late, latestMs, wrong, failed } = comparison;
	const { acknowledged, refused, unknown } = session.statistics;
	const counts = {
		...{ compared, underFaults, late, latestMs, wrong, failed },
		...{ acknowledged, refused, unknown, faults },
	};
	return {
		report: { seed, seconds, servers, counts, kept, broken },
		lines: [
			`${compared} answers compared, ${underFaults} of them under writes and faults; ${wrong} wrong, ${late} late by at most ${latestMs} ms; ${failed} requests without an answer`,
			`after the faults, processes had kept ${kept.objects} objects, ${kept.heads} heads, ${kept.lookups} lookups and ${kept.answers} whole answers that were used`,
			`${acknowledged} writes acknowledged, ${refused} refused, ${unknown} unknown; ${faults} faults`,
		],
		broken,
	};
}

/** Without moves of shards, which the reader does not follow, and what is of no use here. */
function isOfCaches({ kind }: Fault): boolean {
	return kind !== "move" && kind !== "import" && kind !== "verify";
}

function repeated(count: number, run: () => Promise<void>) {
	return Array.from({ length: count }, run);
}

const LOCAL_CACHES = ["objects", "heads", "lookups", "answers"] as const;

/** What was used of the caches in all processes since they began, by cache. */
async function keptOf(admins: readonly string[]): Promise<readonly number[]> {
	const scraped = await Promise.all(
		admins.map((address) => scrape(`http://${address}`)),
	);
	return LOCAL_CACHES.map((cache) =>
		scraped
			.flatMap(
				({ samples }) => samples.get("corkboard_local_cache_hits_total") ?? [],
			)
			.filter(({ labels }) => labels.cache === cache)
			.reduce((sum, { value }) => sum + value, 0),
	);
}

/** A process that reads the databases alone, past the links that faults disturb. */
async function openReader(fleet: AttackFleet): Promise<Corkboard> {
	const { caches: _, ...map } = JSON.parse(await fleet.nextTopology());
	const direct = fleet.hosts.reduce(
		(text, host, n) => text.replaceAll(host, fleet.databases[n] as string),
		JSON.stringify(map),
	);
	const file = join(fleet.folder, "reader.json");
	await writeFile(file, direct, { mode: 0o600 });
	return openCorkboard(
		await findApp(APP),
		{
			...readConfig({ ...fleet.env, CORKBOARD_TOPOLOGY: file }),
			cacheBytes: 0,
		},
		"readOnly",
	);
}

const DETAILS =
	"query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on User { username } ... on Board { owner { id } } ... on Pin { owner { id } } } }";
const AT_ONCE = 50;

interface Details {
	readonly id: Id;
	readonly username?: string;
	readonly owner?: { readonly id: Id };
}

/** All objects, with tokens of those who are called a viewer. */
async function readKnown(reader: Corkboard): Promise<Known> {
	const objects = await everyObject(reader);
	const users: Known["users"][number][] = [];
	const boards: Owned[] = [];
	const pins: Owned[] = [];
	const detailsOf = async (ids: readonly Id[], viewer: Id | null) => {
		const { data } = await reader.query(DETAILS, {
			viewer,
			variables: { ids },
		});
		return (data?.nodes ?? []) as readonly (Details | null)[];
	};
	const of = (type: string) =>
		objects.filter((one) => one.type === type).map(({ id }) => id);
	for (const one of await detailsOf(of("User"), null)) {
		if (one?.username) users.push({ id: one.id, username: one.username });
	}
	users.sort((a, b) => a.username.localeCompare(b.username));
	const signing = users
		.filter(({ username }) => username.startsWith("viewer"))
		.map(
			async (user): Promise<Viewer> => ({
				...user,
				token: await reader.accessTokens.sign(user.id),
			}),
		);
	const viewers = await Promise.all(signing);
	// What is secret is shown to its owner.
	const asked = [null, ...viewers];
	for (const [type, into] of [
		["Board", boards],
		["Pin", pins],
	] as const) {
		let left = of(type);
		for (const viewer of asked) {
			const found = new Set<Id>();
			for (let at = 0; at < left.length; at += AT_ONCE) {
				const some = left.slice(at, at + AT_ONCE);
				for (const one of await detailsOf(some, viewer?.id ?? null)) {
					if (!one?.owner) continue;
					found.add(one.id);
					into.push({ id: one.id, owner: one.owner.id });
				}
			}
			left = left.filter((id) => !found.has(id));
		}
	}
	return { viewers: asked, users, boards, pins };
}

/** A client that writes until the round ends. */
async function write(
	session: Session,
	known: Known,
	random: Random,
): Promise<void> {
	const { signal, statistics } = session;
	while (!signal.aborted) {
		const { viewer, name, input, select } = randomChange(known, random);
		const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input!`;
		const sent = await sendAs(
			session,
			pickServer(session, random),
			viewer.token,
			`mutation ($input: ${type}) { ${name}(input: $input) { ${select} } }`,
			{ input },
		);
		if (typeof sent === "string") statistics.unknown++;
		else if (sent.errors.length > 0) statistics.refused++;
		else {
			statistics.acknowledged++;
			const made = sent.data?.[name] as { readonly pin?: { readonly id: Id } };
			if (made?.pin) known.pins.push({ id: made.pin.id, owner: viewer.id });
		}
		await sleep(random.integer(1, 60));
	}
}

/** Asks the servers and the reader, and counts what came out. */
class Comparison {
	readonly #session: Session;
	readonly #reader: Corkboard;
	readonly #known: Known;
	readonly #random: Random;
	readonly #hot: readonly Question[];
	/** Whether nothing is written, nothing is wrong, and all that was is due. */
	#isSettled = false;
	/** Questions whose verdict was open when their round ended. */
	#open: Question[] = [];
	compared = 0;
	/** Those that were compared while clients wrote and faults happened. */
	underFaults = 0;
	/** Answers that were right within the bound, and not at once. */
	late = 0;
	latestMs = 0;
	wrong = 0;
	failed = 0;

	constructor(
		session: Session,
		reader: Corkboard,
		known: Known,
		random: Random,
	) {
		this.#session = session;
		this.#reader = reader;
		this.#known = known;
		this.#random = random;
		this.#hot = Array.from({ length: HOT }, () =>
			randomQuestion(known, random),
		);
	}

	/** Asks what comes to mind, and further pages of it, until the signal. */
	async readUntil(signal: AbortSignal): Promise<void> {
		await this.#readUntil(() => signal.aborted, signal);
	}

	/** Once nothing is written and all is well: what was left open, and more, until so many were compared. */
	async finish(wanted: number): Promise<void> {
		const { signal } = this.#session;
		this.#isSettled = true;
		const open = this.#open;
		this.#open = [];
		for (const question of open) await this.#compare(question, signal);
		const isOver = () => signal.aborted || this.compared >= wanted;
		await Promise.all(repeated(READERS, () => this.#readUntil(isOver, signal)));
		this.#isSettled = false;
	}

	async #readUntil(isOver: () => boolean, signal: AbortSignal): Promise<void> {
		const random = this.#random;
		while (!isOver()) {
			let question: Question | null = random.chance(0.5)
				? random.pick(this.#hot)
				: randomQuestion(this.#known, random);
			for (let n = 0; question !== null && n < MOST_PAGES; n++) {
				if (isOver()) return;
				const answer = await this.#compare(question, signal);
				question = answer === null ? null : nextPage(question, answer);
			}
		}
	}

	/** Asks all servers between two answers of what is stored, which it returns; null if there is none. */
	async #compare(
		question: Question,
		signal: AbortSignal,
	): Promise<string | null> {
		const { fleet, timeline } = this.#session;
		const servers = fleet.servers.filter(
			({ number }) =>
				!timeline.isImpaired(number) || this.#random.chance(IMPAIRED),
		);
		const stored = () => this.#readStored(question);
		const before = await stored();
		const shown = await Promise.all(
			servers.map(async (server) => {
				const answers: (string | null)[] = [];
				// The third one may be a whole answer that was kept, if nothing changed.
				for (let n = 0; n < (this.#isSettled ? TIMES : 1); n++) {
					answers.push(await this.#readShown(question, server));
				}
				return answers;
			}),
		);
		// What is settled stays as it is.
		const after = this.#isSettled ? before : await stored();
		for (const [n, server] of servers.entries()) {
			for (const answer of shown[n] ?? []) {
				if (answer === null || before === null || after === null) {
					this.failed++;
				} else if (answer === before || answer === after) this.#count(0);
				else await this.#judge(question, server, answer, signal);
			}
		}
		return after;
	}

	/** Judges an answer that was no stored one at first: it may be late, or wrong. */
	async #judge(
		question: Question,
		server: ApiServer,
		first: string,
		signal: AbortSignal,
	): Promise<void> {
		const { timeline, report } = this.#session;
		const { quiet, delivery, cached } = BOUNDS;
		let isFirst = true;
		const verdict = await judge(
			() => this.#readStored(question),
			async () => {
				if (!isFirst) return this.#readShown(question, server);
				isFirst = false;
				return first;
			},
			{
				now: timeline.now,
				signal,
				dueBy: (since) =>
					this.#isSettled
						? Number.NEGATIVE_INFINITY
						: Math.min(
								timeline.quietAfter(since, quiet),
								timeline.deliverableAfter(since, delivery) + cached,
							),
			},
		);
		if (verdict.kind === "failed") this.failed++;
		if (verdict.kind === "undecided") this.#open.push(question);
		if (verdict.kind === "equal") this.#count(verdict.lagMs);
		if (verdict.kind !== "wrong") return;
		this.#count(0);
		this.wrong++;
		const { viewer, document, variables } = question;
		report({
			kind: "stale",
			promised: "viewers get what is stored",
			seen: `${viewer?.username ?? "nobody"} asked server ${server.number} for ${JSON.stringify(variables)} by ${document}\ngot ${verdict.shown}\nstored is ${verdict.stored}\nfor ${verdict.lagMs} ms${this.#isSettled ? ", when all was over" : ""}`,
			objects: [],
		});
	}

	#count(lagMs: number): void {
		this.compared++;
		if (!this.#isSettled) this.underFaults++;
		if (lagMs > 0) this.late++;
		this.latestMs = Math.max(this.latestMs, lagMs);
	}

	async #readStored(question: Question): Promise<string | null> {
		const { viewer, document, variables } = question;
		const { data, errors = [] } = await this.#reader.query(document, {
			viewer: viewer?.id ?? null,
			variables,
		});
		return answerOf(data, errors);
	}

	async #readShown(
		question: Question,
		server: ApiServer,
	): Promise<string | null> {
		const { viewer, document, variables } = question;
		const token = viewer?.token ?? null;
		const sent = await sendAs(
			this.#session,
			server,
			token,
			document,
			variables,
		);
		return typeof sent === "string" ? null : answerOf(sent.data, sent.errors);
	}
}

/** As a text that can be compared; null if something was not available. */
function answerOf(
	data: unknown,
	errors: readonly Pick<ResponseError, "extensions">[],
): string | null {
	const codes = errors.map(({ extensions }) => extensions?.code);
	if (codes.some((code) => code !== "NOT_FOUND")) return null;
	return JSON.stringify({ data, codes });
}
