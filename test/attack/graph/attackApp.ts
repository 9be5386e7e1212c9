import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { App } from "../../../src/app/defineApp.ts";
import { findApp } from "../../../src/app/findApp.ts";
import {
	type Corkboard,
	openCorkboard,
} from "../../../src/app/openCorkboard.ts";
import { readApp } from "../../../src/app/readApp.ts";
import { readConfig } from "../../../src/config/config.ts";
import type { Id } from "../../../src/id/ids.ts";
import {
	everyObject,
	type FoundObject,
} from "../../../src/testing/everyObject.ts";
import {
	type Asked,
	compareAnswers,
	randomMutation,
} from "../../../src/testing/randomWalk.ts";
import { type Random, seededRandom } from "../../../src/util/random.ts";
import type { Outcome, TrialContext } from "../world.ts";
import type { ApiServer } from "./apiServer.ts";
import { type AttackFleet, startAttackFleet } from "./attackFleet.ts";
import type { Violation } from "./checks.ts";
import { FaultInjector } from "./faults.ts";
import { checkLogs, settle, verifyAll } from "./finish.ts";
import { type Fault, scheduleFaults } from "./schedule.ts";
import { pickServer, type Session, sendAs } from "./session.ts";
import { importLines, sessionWithoutModel } from "./sessionWithoutModel.ts";

export interface AppOptions {
	/** The folder of the app. */
	readonly app: string;
	readonly seed: number;
	readonly minutes: number;
	readonly servers: number;
	readonly clients: number;
}

/** Users that are there from the start, beside those of the app's demo. */
const USERS = 8;
const READS = 0.4;

/**
 * Attacks a fleet that serves any app, with the faults of the seed. Clients send random
 * mutations and reads of the app's own schema. What no model is needed for is judged:
 * no error INTERNAL, no server that ends; after the faults every acknowledged object is
 * stored, each server answers what is stored, and `verify` finds nothing.
 */
export async function attackApp(
	{ app: given, seed, minutes, servers, clients }: AppOptions,
	{ say, signal: interrupt, keep }: TrialContext,
): Promise<Outcome> {
	const folder = resolve(given);
	const app = await findApp(folder);
	const broken: string[] = [];
	const report = (one: Violation) =>
		void broken.push(`${one.promised}, but: ${one.seen}`);
	const stop = new AbortController();
	interrupt.addEventListener("abort", () => stop.abort());
	await using fleet = await startAttackFleet({
		servers,
		settings: { CORKBOARD_APP: folder },
		ended: ({ number }, how) =>
			report({
				kind: "process",
				promised: "no server ends by itself",
				seen: `server ${number} ended: ${how}`,
				objects: [],
			}),
	});
	await importLines(fleet, linesOf(app));
	// No model knows what this app may show.
	const session = sessionWithoutModel(fleet, report, stop.signal);
	const injector = new FaultInjector(session, [], seededRandom(seed + 1), say);
	const load = await Load.of(app, session);
	const totalMs = minutes * 60_000;
	const end = setTimeout(() => stop.abort(), totalMs);
	await Promise.all([
		...Array.from({ length: clients }, (_, number) =>
			load.run(seededRandom(seed + 10 + number)),
		),
		injector.run(scheduleFaults(seed, totalMs, servers).flatMap(forAnyApp)),
	]);
	clearTimeout(end);
	let compared = 0;
	if (!interrupt.aborted) {
		say("faults are over, comparing what is answered with what is stored");
		compared = await finishApp(app, session, load, seededRandom(seed + 2));
	}
	await checkLogs(session);
	if (broken.length > 0) {
		await keep(
			fleet.servers.map(({ logFile, number }) => [
				logFile,
				`server${number}.log`,
			]),
		);
	}
	const { count: faults, moves } = injector;
	const { requests, acknowledged, refused, unknown } = session.statistics;
	const mutations = load.succeeded.size;
	return {
		report: {
			...{ app: folder, seed, faults, moves, requests, acknowledged },
			...{ refused, unknown, mutations, compared, broken },
		},
		lines: [
			`${requests} requests, ${acknowledged} mutations of ${mutations} kinds acknowledged, ${refused} refused, ${unknown} unknown, ${faults} faults, ${moves} moves, ${compared} answers compared`,
		],
		broken,
	};
}

/** Without what is of users, boards and pins: their import, and renames in the middle of which a server is paused. */
function forAnyApp(fault: Fault): readonly Fault[] {
	if (fault.kind === "import") return [];
	return [fault.kind === "freeze" ? { ...fault, isBusy: false } : fault];
}

/** The demo graph of an app, and users. */
function linesOf(app: App): string {
	const { type, nameLookup } = app.identity;
	const { parts = [] } = readApp(app).model.lookups.get(nameLookup) ?? {};
	const field = parts[0]?.field ?? "";
	const users = Array.from({ length: USERS }, (_, n) => ({
		type,
		key: `attack:${n}`,
		fields: { [field]: `attack${n}` },
	}));
	return [...users, ...(app.demo?.graph() ?? [])]
		.map((line) => `${JSON.stringify(line)}\n`)
		.join("");
}

/** What a process answers that reads the databases alone. */
async function openReader(app: App, fleet: AttackFleet): Promise<Corkboard> {
	const { caches: _, ...map } = JSON.parse(await fleet.nextTopology());
	const file = join(fleet.folder, "reader.json");
	await writeFile(file, JSON.stringify(map), { mode: 0o600 });
	return openCorkboard(
		app,
		{
			...readConfig({ ...fleet.env, CORKBOARD_TOPOLOGY: file }),
			cacheBytes: 0,
		},
		"readOnly",
	);
}

/** After all faults: what each server answers is what is stored, which agrees, and nothing acknowledged is missing. Returns how many answers were compared. */
async function finishApp(
	app: App,
	session: Session,
	load: Load,
	random: Random,
): Promise<number> {
	const { fleet, report } = session;
	await settle(session);
	await using reader = await openReader(app, fleet);
	const objects = await everyObject(reader);
	const stored = new Set(objects.map(({ id }) => id));
	for (const { id, type } of load.acknowledged.values()) {
		if (stored.has(id)) continue;
		report({
			kind: "missing",
			promised: "an object whose creation was acknowledged is stored",
			seen: `${type} ${id} is not`,
			objects: [id],
		});
	}
	const { list } = reader.feedModel ?? {};
	// To read a feed adds to it.
	const without = new Set(list ? [`${list.from}.${list.field}`] : []);
	let compared = 0;
	for (const server of fleet.servers) {
		const found = await compareAnswers(
			load.asked(server),
			reader,
			objects,
			random,
			without,
		);
		compared += found.compared;
		for (const seen of found.problems) {
			report({
				kind: "stale",
				promised: "a server answers what is stored",
				seen,
				objects: [],
			});
		}
	}
	await verifyAll(session);
	return compared;
}

/** Random clients of any app. */
class Load {
	readonly #app: App;
	readonly #session: Session;
	readonly #tokens: Corkboard["accessTokens"];
	readonly #schema: Corkboard["schema"];
	/** What a creation is of, by its mutation. */
	readonly #created: ReadonlyMap<string, string>;
	/** Mutations that succeeded. */
	readonly succeeded = new Set<string>();
	/** Creations that were acknowledged. */
	readonly acknowledged = new Map<Id, FoundObject>();
	readonly objects: FoundObject[];

	private constructor(
		app: App,
		session: Session,
		tokens: Corkboard["accessTokens"],
		objects: readonly FoundObject[],
	) {
		const { schema, mutations } = readApp(app);
		this.#app = app;
		this.#session = session;
		this.#schema = schema;
		this.#tokens = tokens;
		this.objects = [...objects];
		this.#created = new Map(
			mutations.flatMap((one) =>
				one.kind === "create" ? [[one.name, one.type]] : [],
			),
		);
	}

	static async of(app: App, session: Session): Promise<Load> {
		await using reader = await openReader(app, session.fleet);
		const objects = await everyObject(reader);
		return new Load(app, session, reader.accessTokens, objects);
	}

	/** One of the servers, asked over HTTP. */
	asked(server: ApiServer): Asked {
		return {
			query: async (source, { viewer = null, variables = {} } = {}) => {
				const token = viewer && (await this.#tokens.sign(viewer));
				const sent = await sendAs(
					this.#session,
					server,
					token,
					source,
					variables,
				);
				if (typeof sent === "string") return { data: null };
				const { data, errors } = sent;
				return { data, ...(errors.length > 0 && { errors }) } as Answer;
			},
		};
	}

	async run(random: Random): Promise<void> {
		const { signal } = this.#session;
		while (!signal.aborted) {
			await (random.chance(READS) ? this.#read(random) : this.#write(random));
			await sleep(random.integer(1, 20));
		}
	}

	async #read(random: Random): Promise<void> {
		const { id } = random.pick(this.objects);
		const users = this.objects.filter(
			({ type }) => type === this.#app.identity.type,
		);
		const viewer = random.chance(0.2) ? null : random.pick(users).id;
		await this.#ask(
			random,
			"query ($id: ID!) { node(id: $id) { id __typename } }",
			viewer,
			{ id },
		);
	}

	async #write(random: Random): Promise<void> {
		const { name, document, viewer, input } = randomMutation(
			{ app: this.#app, schema: this.#schema },
			this.objects,
			random,
			(each) => {
				const type = this.#created.get(each);
				return type === undefined ? "__typename" : `${fieldOf(type)} { id }`;
			},
		);
		const data = await this.#ask(random, document, viewer, { input });
		if (data === null) return;
		this.#session.statistics.acknowledged++;
		this.succeeded.add(name);
		const type = this.#created.get(name);
		const made = type && (data[name] as Made)?.[fieldOf(type)];
		if (!type || !made) return;
		const object = { id: made.id as Id, type };
		this.acknowledged.set(object.id, object);
		this.objects.push(object);
	}

	/** The data of an answer without errors. */
	async #ask(
		random: Random,
		query: string,
		viewer: Id | null,
		variables: Readonly<Record<string, unknown>>,
	): Promise<Readonly<Record<string, unknown>> | null> {
		const { statistics } = this.#session;
		const token = viewer && (await this.#tokens.sign(viewer));
		const server = pickServer(this.#session, random);
		const sent = await sendAs(this.#session, server, token, query, variables);
		if (typeof sent === "string") {
			statistics.unknown++;
			return null;
		}
		if (sent.errors.length > 0) statistics.refused++;
		return sent.errors.length > 0 ? null : sent.data;
	}
}

type Answer = Awaited<ReturnType<Asked["query"]>>;
type Made = Readonly<Record<string, { readonly id: string } | null>> | null;

/** `note` of `Note`. */
function fieldOf(type: string): string {
	return `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
}
