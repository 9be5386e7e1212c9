import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { CorkboardError } from "../../src/errors.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Random } from "../../src/util/random.ts";
import { verbOf } from "./storageWith.ts";

/**
 * Runs a few actors on one storage in every order of their calls to the storage
 * port: what a process does between two calls is its own, so these orders are
 * all that several processes can do to each other. Calls that no other actor can
 * see or change are made at once: their order is of no account.
 *
 * An order is a list of choices. Each run repeats a list of choices from the
 * start, takes the first choice from there on, and notes the others for later
 * runs. Two orders that lead to the same stored rows, with the same results so
 * far for each actor that has not ended, go on in the same way: only the first
 * is followed.
 */

/** A process, or one request of it. */
export interface Actor {
	readonly name: string;
	run(): Promise<unknown>;
	/** Whether it may also end before any of its calls, as a killed process does. */
	readonly mayDie?: boolean;
	/**
	 * Calls that may also get no answer. A transaction is then committed later or
	 * never, and until then holds its locks; a change of lookups takes effect at
	 * any later time, or never.
	 */
	readonly losesAnswers?: (verb: string, call: number) => boolean;
	/** Whether it may wait for what never comes, at no call. */
	readonly mayWaitForEver?: boolean;
}

export type Outcome = "done" | "died" | "waiting" | CorkboardError;

/** One run: new objects, the same story. */
export interface World {
	readonly actors: readonly Actor[];
	/** Whether no other actor can see or change what a call does. `call` counts from 1 without private calls. */
	isPrivate(
		actor: Actor,
		verb: string,
		parameters: readonly unknown[],
		call: number,
	): boolean;
	/** What is stored, without times. Read before each choice. */
	state(): Promise<unknown>;
	/** Throws if what is stored breaks a promise. */
	check(state: unknown): void;
	/** After the last actor ended. */
	end(outcomes: ReadonlyMap<string, Outcome>): Promise<void>;
	/** Names that differ between runs. */
	readonly prefix: string;
}

export interface Bounds {
	/** How often an actor may be interrupted while it could go on. What breaks a protocol needs few; the orders rise with each. */
	readonly interruptions?: number;
	/** Draws so many orders at random instead of following all. */
	readonly sample?: { readonly orders: number; readonly random: Random };
}

export interface Explored {
	readonly states: number;
	/** How the actors ended, by their names in order: `done, CONFLICT`. */
	readonly ends: ReadonlySet<string>;
}

/** What broke, and the order that led there. */
export class Broken extends Error {
	constructor(order: readonly string[], cause: unknown) {
		const reason = cause instanceof Error ? cause.message : String(cause);
		super(`${reason}\nafter:\n${order.join("\n")}`, { cause });
	}
}

const VERBS: ReadonlySet<string> = new Set([
	"readObjects",
	"readLookups",
	"readEdges",
	"scanLists",
	"transact",
	"compareAndSetLookups",
	"pendingEntries",
	"deleteOutboxEntries",
]);

interface ActorState {
	readonly run: number;
	readonly actor: Actor;
	/** Results, which decide what the actor does next. */
	readonly history: unknown[];
	calls: number;
	outcome: Outcome | null;
}

interface Waiting {
	readonly state: ActorState;
	readonly verb: string;
	readonly mayBeLost: boolean;
	run(): Promise<void>;
	/** Fails the call and returns what may still take effect. */
	lose(): () => Promise<void>;
}

/** What is left of a call without an answer. */
interface Late {
	readonly name: string;
	readonly isTransaction: boolean;
	run(): Promise<void>;
}

interface Choice {
	readonly name: string;
	/** The actor that continues; null: what takes effect by itself. */
	readonly actor: string | null;
	take(): Promise<void>;
}

export class Interleavings {
	#world: World | null = null;
	readonly #current = new AsyncLocalStorage<ActorState>();
	/** Counts runs. An actor of an earlier run, which was left where it stood, takes no further part. */
	#runs = 0;
	#waiting: Waiting[] = [];
	#late: Late[] = [];
	readonly #onOrder: (orders: number) => void;

	/** `onOrder` is called with the number of orders that were followed. */
	constructor(onOrder: (orders: number) => void) {
		this.#onOrder = onOrder;
	}

	/** The storage that actors use. Calls of others pass. */
	wrap(storage: Storage): Storage {
		return new Proxy(storage, {
			get: (target, name) => {
				const value = Reflect.get(target, name, target);
				if (typeof value !== "function") return value;
				const method = value.bind(target);
				return (...parameters: unknown[]) => {
					const verb = verbOf(name, parameters);
					if (!VERBS.has(verb)) return method(...parameters);
					const state = this.#current.getStore();
					const isAlone =
						state === undefined ||
						(state.run === this.#runs &&
							this.#world?.isPrivate(
								state.actor,
								verb,
								parameters,
								state.calls + 1,
							));
					return isAlone
						? method(...parameters)
						: this.#wait(state, verb, () => method(...parameters));
				};
			},
		});
	}

	/** Every order, or a sample, within the bounds. Throws `Broken` at the first that breaks a promise. */
	async explore(
		open: () => Promise<World>,
		bounds: Bounds = {},
	): Promise<Explored> {
		const visited = new Set<string>();
		const prefixes: (readonly number[])[] = [[]];
		const ends = new Set<string>();
		const { sample } = bounds;
		for (let orders = 0; ; orders++) {
			// The runner stops what prints nothing for minutes.
			if (orders % 2_000 === 1_999) console.log(`${orders + 1} orders`);
			if (sample) drawLast(prefixes, sample.random);
			const prefix = prefixes.pop();
			if (prefix === undefined || orders === sample?.orders) {
				return { states: visited.size, ends };
			}
			const end = await this.#run(
				await open(),
				prefix,
				visited,
				prefixes,
				bounds,
			);
			if (end !== null) ends.add(end);
			this.#onOrder(orders + 1);
		}
	}

	/** How the run ended; null if it came to a state that was met before. */
	async #run(
		world: World,
		prefix: readonly number[],
		visited: Set<string>,
		prefixes: (readonly number[])[],
		{ interruptions: most = Number.POSITIVE_INFINITY }: Bounds,
	): Promise<string | null> {
		const run = ++this.#runs;
		this.#world = world;
		this.#waiting = [];
		this.#late = [];
		const states = world.actors.map((actor): ActorState => {
			const state = { run, actor, history: [], calls: 0, outcome: null };
			this.#start(state);
			return state;
		});
		const order: string[] = [];
		let last: string | null = null;
		let interruptions = 0;
		try {
			for (let step = 0; ; step++) {
				// Everything between two calls is done within a turn of the event loop.
				await nextTurn();
				const choices = this.#choices(last);
				const isInterruption = ({ actor }: Choice) =>
					last !== null && actor !== last && choices[0]?.actor === last;
				if (step >= prefix.length) {
					const stored = await world.state();
					world.check(stored);
					const late = this.#late.map(({ name }) => name);
					const actors = states.map(({ history, outcome }) =>
						outcome === null ? history : nameOf(outcome),
					);
					const print = fingerprint(
						[
							stored,
							late,
							actors,
							...(most < Infinity ? [last, interruptions] : []),
						],
						world.prefix,
					);
					if (visited.has(print)) return null;
					visited.add(print);
					for (let other = choices.length - 1; other > 0; other--) {
						const choice = choices[other] as Choice;
						if (interruptions + Number(isInterruption(choice)) > most) continue;
						prefixes.push([...taken(prefix, step), other]);
					}
				}
				const choice = choices[prefix[step] ?? 0];
				if (choice === undefined) break;
				if (isInterruption(choice)) interruptions++;
				last = choice.actor ?? last;
				order.push(choice.name);
				await choice.take();
			}
			const outcomes = new Map(
				states.map(({ actor, outcome }) => {
					if (outcome === null && !actor.mayWaitForEver) {
						throw new Error(`${actor.name} hangs`);
					}
					return [actor.name, outcome ?? "waiting"];
				}),
			);
			await world.end(outcomes);
			return [...outcomes.values()].map(nameOf).join(", ");
		} catch (error) {
			throw new Broken(order, error);
		}
	}

	#start(state: ActorState): void {
		this.#current.run(state, () => {
			state.actor.run().then(
				() => {
					state.outcome ??= "done";
				},
				(error) => {
					state.outcome ??=
						error instanceof CorkboardError
							? error
							: new CorkboardError("INTERNAL", String(error?.stack ?? error));
				},
			);
		});
	}

	#wait(
		state: ActorState,
		verb: string,
		execute: () => Promise<unknown>,
	): Promise<unknown> {
		const { promise, resolve, reject } = Promise.withResolvers<unknown>();
		const call = ++state.calls;
		const waiting: Waiting = {
			state,
			verb: `${verb} (${call})`,
			mayBeLost: state.actor.losesAnswers?.(verb, call) ?? false,
			async run() {
				try {
					const result = await execute();
					state.history.push(result);
					resolve(result);
				} catch (error) {
					state.history.push(String(error));
					reject(error);
				}
			},
			lose() {
				const lost = new CorkboardError("UNAVAILABLE", "no answer");
				state.history.push("no answer");
				if (verb === "compareAndSetLookups") resolve([lost]);
				else reject(lost);
				return async () => {
					await execute().catch(() => {});
				};
			},
		};
		if (state.run === this.#runs) this.#waiting.push(waiting);
		return promise;
	}

	/** Those of the actor that went on last come first: to take the first is no interruption. */
	#choices(last: string | null): readonly Choice[] {
		const isLocked = this.#late.some(({ isTransaction }) => isTransaction);
		const choices: Choice[] = [];
		for (const waiting of this.#waiting) {
			const { state, verb } = waiting;
			const { name, mayDie } = state.actor;
			const isTransaction = verb.startsWith("transact");
			const leave = () => {
				this.#waiting = this.#waiting.filter((one) => one !== waiting);
			};
			if (!(isTransaction && isLocked)) {
				choices.push({
					name: `${name}: ${verb}`,
					actor: name,
					take: () => {
						leave();
						return waiting.run();
					},
				});
				if (waiting.mayBeLost) {
					choices.push({
						name: `${name}: ${verb} gets no answer`,
						actor: name,
						take: async () => {
							leave();
							const run = waiting.lose();
							this.#late.push({ name: `${name} ${verb}`, isTransaction, run });
						},
					});
				}
			}
			// Before a read is as good as before the next write.
			if (mayDie && !verb.startsWith("read")) {
				choices.push({
					name: `${name} dies before ${verb}`,
					actor: name,
					take: async () => {
						state.outcome = "died";
						this.#waiting = this.#waiting.filter((one) => one.state !== state);
					},
				});
			}
		}
		for (const late of this.#late) {
			const leave = () => {
				this.#late = this.#late.filter((one) => one !== late);
			};
			choices.push({
				name: `${late.name} takes effect late`,
				actor: null,
				take: () => {
					leave();
					return late.run();
				},
			});
			choices.push({
				name: `${late.name} never takes effect`,
				actor: null,
				take: async () => leave(),
			});
		}
		return [
			...choices.filter(({ actor }) => actor === last),
			...choices.filter(({ actor }) => actor !== last),
		];
	}
}

function nameOf(outcome: Outcome): string {
	return outcome instanceof CorkboardError ? outcome.code : outcome;
}

/** Exchanges the last with one drawn at random. */
function drawLast<T>(items: T[], random: Random): void {
	if (items.length === 0) return;
	const last = items.length - 1;
	const drawn = random.integer(0, last);
	[items[drawn], items[last]] = [items[last] as T, items[drawn] as T];
}

/** The choices up to a step: those given, then the first each time. */
function taken(prefix: readonly number[], step: number): readonly number[] {
	return Array.from({ length: step }, (_, at) => prefix[at] ?? 0);
}

/** Ids, tokens, positions and prefixes differ from run to run; they are numbered as they appear. */
function fingerprint(state: unknown, prefix: string): string {
	const numbers = new Map<string, string>();
	const numbered = (name: string) => {
		const known = numbers.get(name) ?? `#${numbers.size}`;
		numbers.set(name, known);
		return known;
	};
	const text = JSON.stringify(state, (key, value) =>
		TIMES.has(key) ? undefined : value,
	)
		.replaceAll(prefix, "")
		.replaceAll(/"local":\d+/g, numbered)
		.replaceAll(/\b\d{6,}\b|(?<=")[A-Za-z0-9_-]{12}(?=\\?"(?!:))/g, numbered);
	return createHash("sha256").update(text).digest("base64");
}

const TIMES = new Set(["writtenAt", "nextAttemptAt", "created_at"]);
