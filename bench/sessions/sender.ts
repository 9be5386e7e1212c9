/** People with apps, as a process of its own: sends what they ask for, and looks at the answers. */
import { seededRandom } from "../../src/util/random.ts";
import {
	type Ended,
	OpenLoop,
	type Sent,
	type Source,
	sleep,
} from "../load/openLoop.ts";
import { OUTCOMES } from "../overload/messages.ts";
import { quantile } from "../overload/report.ts";
import { drawZipf } from "../pools.ts";
import { READERS } from "./answers.ts";
import { KINDS, type Kind } from "./documents.ts";
import { Checks, Expectations } from "./expectations.ts";
import type {
	CrowdOf,
	Person,
	SessionLoad,
	SessionResult,
	ToSender,
} from "./messages.ts";
import { Session } from "./session.ts";
import { requestOf } from "./spell.ts";

/** Time for the first connections. */
const CONNECT_MS = 500;
/** Visits that are drawn; then the same come again. */
const DRAWS = 1 << 17;
/** Connections of an open loop. */
const OPEN_CONNECTIONS = 500;

interface Running extends Sent {
	readonly session: Session;
	readonly kind: Kind;
}

/** Everybody of one database. Their sessions go on from load to load. */
class Crowd {
	readonly #of: CrowdOf;
	readonly #random;
	readonly #popular: Uint32Array;
	#drawn = 0;
	readonly #expectations = new Map<Person, Expectations>();
	/** Who has no session. */
	readonly #idle: Person[];
	/** Whose next request waits to be sent. */
	readonly #ready: Session[] = [];
	checks = new Checks();

	constructor(of: CrowdOf) {
		this.#of = of;
		this.#random = seededRandom(of.seed);
		this.#idle = [...this.#random.shuffled(of.people)];
		this.#popular = drawZipf(of.popular.length, DRAWS, of.seed, of.habits.zipf);
		for (let n = 0; n < of.sessions; n++) this.#begin();
	}

	/** Begins one if all wait for answers: people do not wait for each other. Null if nobody is left. */
	take(): Session | null {
		if (this.#ready.length === 0) this.#begin();
		return this.#ready.shift() ?? null;
	}

	/** After its request ended. */
	giveBack(session: Session): void {
		if (!session.isOver) {
			this.#ready.push(session);
			return;
		}
		this.#idle.push(session.person);
		if (this.#ready.length < this.#of.sessions) this.#begin();
	}

	#begin(): void {
		const person = this.#idle.shift();
		if (person === undefined) return;
		let expectations = this.#expectations.get(person);
		if (expectations === undefined) {
			expectations = new Expectations();
			this.#expectations.set(person, expectations);
		}
		this.#ready.push(
			new Session({
				person,
				expectations,
				habits: this.#of.habits,
				random: this.#random,
				visited: ({ followees }) => this.#visited(followees),
				checks: () => this.checks,
			}),
		);
	}

	#visited(followees: readonly string[]): string {
		const { habits, popular } = this.#of;
		if (followees.length > 0 && this.#random.chance(habits.toFollowees)) {
			return this.#random.pick(followees);
		}
		const rank = this.#popular[this.#drawn++ % DRAWS] as number;
		return popular[rank] as string;
	}
}

/** One load of a crowd on a server. */
class Sending implements Source<Running> {
	readonly #crowd: Crowd;
	readonly #load: SessionLoad;
	readonly #kinds: number[] = [];
	readonly #outcomes: number[] = [];
	readonly #ms: number[] = [];
	#signedIn = 0;
	#bytes = 0;
	#firstError: string | null = null;

	constructor(crowd: Crowd, load: SessionLoad) {
		this.#crowd = crowd;
		this.#load = load;
		crowd.checks = new Checks();
	}

	next(): Running | null {
		const session = this.#crowd.take();
		if (session === null) return null;
		const { ask, person } = session;
		const text = requestOf(ask, person, this.#load);
		return { session, kind: ask.kind, request: Buffer.from(text) };
	}

	ended({ session, kind }: Running, { ms, outcome, response, why }: Ended) {
		this.#kinds.push(KINDS.indexOf(kind));
		this.#outcomes.push(OUTCOMES.indexOf(outcome));
		this.#ms.push(ms);
		if (session.person.token !== null) this.#signedIn++;
		this.#bytes += response?.length ?? 0;
		if (outcome === "answered") {
			try {
				this.#take(session, kind, response?.body ?? "");
			} catch (error) {
				this.#firstError ??= `${kind}: ${error} in ${response?.body}`;
				this.#outcomes[this.#outcomes.length - 1] = OUTCOMES.indexOf("failed");
				session.giveUp();
			}
		} else if (!outcome.startsWith("refused")) {
			this.#firstError ??= `${kind}: ${why}`;
			session.giveUp();
		}
		// Who was refused comes again.
		this.#crowd.giveBack(session);
	}

	async run(): Promise<SessionResult> {
		const { port, patienceMs, connections, seconds, rate, seed } = this.#load;
		const loop = new OpenLoop<Running>(this, {
			port,
			patienceMs,
			address: "127.0.0.1",
			keepsBodies: true,
			connections: rate === null ? connections : OPEN_CONNECTIONS,
		});
		await sleep(CONNECT_MS);
		const began = performance.now();
		const used = process.cpuUsage();
		await loop.run([{ seconds, rate }], seed);
		const { user, system } = process.cpuUsage(used);
		const { checked, firstWrong } = this.#crowd.checks;
		return {
			kind: Uint8Array.from(this.#kinds),
			outcome: Uint8Array.from(this.#outcomes),
			ms: Float64Array.from(this.#ms),
			signedIn: this.#signedIn,
			bytes: this.#bytes,
			seconds: (performance.now() - began) / 1_000,
			checked,
			firstWrong,
			firstError: this.#firstError,
			lateMs: quantile(loop.late, 0.99),
			starved: loop.starved,
			cpuMs: (user + system) / 1_000,
		};
	}

	#take(session: Session, kind: Kind, body: string): void {
		const { data } = JSON.parse(body) as { readonly data: unknown };
		session.answered(kind, READERS[kind](data) as never);
	}
}

if (import.meta.main) {
	const crowds = new Map<string, Crowd>();
	process.on("message", async (message: ToSender) => {
		if ("crowd" in message) {
			crowds.set(message.crowd.name, new Crowd(message.crowd));
			process.send?.(null);
			return;
		}
		const { load } = message;
		const crowd = crowds.get(load.crowd);
		if (crowd === undefined) throw new Error(`There is no ${load.crowd}.`);
		process.send?.(await new Sending(crowd, load).run());
	});
	// It does not outlive the benchmark.
	process.on("disconnect", () => process.exit(0));
	process.on("SIGINT", () => {});
}
