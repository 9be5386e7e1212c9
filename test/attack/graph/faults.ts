import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../../src/util/random.ts";
import { moveBesideFaults, type PlannedMove } from "../move/besideFaults.ts";
import { playSchedule } from "../world.ts";
import type { Actor } from "./actors.ts";
import type { ApiServer } from "./apiServer.ts";
import { MEMCACHED, REDIS, type ServiceName } from "./attackFleet.ts";
import { describeFault, type Fault } from "./schedule.ts";
import type { Session } from "./session.ts";
import type { FaultRecord } from "./timeline.ts";
import { movePin, renameUser } from "./writes.ts";

/** How long a server may need after its services are back: it connects again. Milliseconds. */
const RECOVERY_MS = 500;

/** How long a frozen server may keep others from the rows that it locked. Milliseconds. */
const LOCKED_MS = 12_000;

/** What continues beside faults. */
const BESIDE: ReadonlySet<Fault["kind"]> = new Set([
	"verify",
	"import",
	"move",
]);

/** The map, and the hosts of a move. */
type Busy = "map" | "hosts";

/** Carries out a schedule, and keeps the timeline of it. */
export class FaultInjector {
	readonly #session: Session;
	readonly #actors: readonly Actor[];
	readonly #random: Random;
	readonly #print: (line: string) => void;
	/** Servers and services that are being restarted, or are paused: one fault of this kind at a time. */
	readonly #busy = new Set<number | ServiceName | Busy>();
	count = 0;
	/** Moves that were begun. */
	moves = 0;
	/** Files that were imported, perhaps in part. */
	readonly imports: string[] = [];

	constructor(
		session: Session,
		actors: readonly Actor[],
		random: Random,
		print: (line: string) => void,
	) {
		this.#print = print;
		this.#session = session;
		this.#actors = actors;
		this.#random = random;
	}

	/** Until the schedule ends or the signal comes; then all is as it was. */
	async run(faults: readonly Fault[]): Promise<void> {
		const { signal } = this.#session;
		await playSchedule(faults, (fault) => this.#inject(fault), { signal });
	}

	/** Earlier if the run ends. */
	async #wait(ms: number): Promise<void> {
		const { signal } = this.#session;
		if (ms <= 0 || signal.aborted) return;
		await sleep(ms, undefined, { signal }).catch(() => {});
	}

	async #inject(fault: Fault): Promise<void> {
		const { fleet, timeline } = this.#session;
		const what = describeFault(fault);
		if (!BESIDE.has(fault.kind)) this.count++;
		switch (fault.kind) {
			case "links": {
				const servers = fault.sides.filter((side) => side !== "all");
				const record = timeline.begin(
					what,
					servers.length === 0 ? "all" : servers,
				);
				const restore = fault.services.flatMap((name) =>
					fault.sides.map((side) =>
						fleet.links[name].disturb(side, fault.disturbance),
					),
				);
				await this.#wait(fault.ms);
				for (const one of restore) one();
				timeline.end(record);
				return;
			}
			case "freeze": {
				const server = fleet.servers[fault.server] as ApiServer;
				await this.#alone(fault.server, async () => {
					const record = timeline.begin(what, [fault.server], {
						excuseMs: LOCKED_MS,
					});
					const names = fault.isBusy ? this.#startWrites(server) : [];
					// Between the steps of the writes that have just begun.
					if (fault.isBusy) await sleep(this.#random.integer(1, 60));
					server.freeze();
					const until = timeline.now() + fault.ms;
					if (names.length > 0) await this.#wantNames(names, server, until);
					await this.#wait(until - timeline.now());
					server.thaw();
					await sleep(RECOVERY_MS);
					timeline.end(record);
				});
				return;
			}
			case "kill": {
				const server = fleet.servers[fault.server] as ApiServer;
				await this.#alone(fault.server, async () => {
					const record = timeline.begin(what, [fault.server]);
					await fleet.killServer(server);
					await this.#wait(fault.ms);
					await fleet.startServer(server);
					await sleep(RECOVERY_MS);
					timeline.end(record);
				});
				return;
			}
			case "pause":
				await this.#alone(fault.service, async () => {
					const record = timeline.begin(what, "all");
					fleet.services[fault.service].pause();
					await this.#wait(fault.ms);
					fleet.services[fault.service].resume();
					timeline.end(record);
				});
				return;
			case "restart":
				await this.#alone(fault.service, async () => {
					const record = timeline.begin(what, "all");
					await fleet.services[fault.service].kill("SIGKILL");
					await this.#wait(fault.ms);
					await fleet.services[fault.service].restart();
					timeline.end(record);
				});
				return;
			case "topology": {
				// Who edits the file by hand is no operation, and overwrites what one publishes.
				if (this.#busy.has("hosts")) return;
				await this.#alone("map", async () => {
					const record = timeline.begin(what, "all");
					const text = await fleet.nextTopology();
					if (fault.isBroken) {
						const half = text.slice(0, text.length / 2);
						await fleet.writeTopology(half, "in place");
						await this.#wait(fault.ms);
					}
					await fleet.writeTopology(text, "renamed");
					// Servers look at the file once a second.
					await sleep(2_000);
					timeline.end(record);
				});
				return;
			}
			case "caches":
				// It excuses nobody. If a server is paused, it ends half-way, and continues with the next one to the same servers.
				await this.#alone("map", async () => {
					const record = timeline.begin(what, []);
					const urls = (
						names: typeof MEMCACHED | typeof REDIS,
						count: number,
					) => names.slice(-count).map(fleet.cacheUrl).join();
					await fleet.command([
						...["caches", "set", "--unchecked"],
						...["--objects", urls(MEMCACHED, fault.objects)],
						...["--lists", urls(REDIS, fault.lists)],
					]);
					timeline.end(record);
				});
				return;
			case "move":
				await this.#alone("hosts", () => this.#move(fault, what));
				return;
			case "verify":
				await this.#verify();
				return;
			case "import":
				await this.#import();
		}
	}

	/** Nobody notices a move, so it excuses nobody. */
	async #move(planned: PlannedMove, what: string): Promise<void> {
		const { fleet, timeline, report } = this.#session;
		while (this.#busy.has("map")) await sleep(100);
		let record: FaultRecord | null = null;
		const { did, error } = await moveBesideFaults(fleet, planned, (which) => {
			this.moves++;
			record = timeline.begin(`${what}: ${which}`, [], { excuseMs: 0 });
		});
		if (record !== null) timeline.end(record);
		this.#print(`moved ${did}`);
		if (error === null) return;
		report({
			kind: "move",
			promised: "a move ends, by itself or by moves resume, also beside faults",
			seen: `${did}\n${error}`,
			objects: [],
		});
	}

	/** `verify` beside the load: nothing it reports may be there. */
	async #verify(): Promise<void> {
		const { fleet, timeline, report } = this.#session;
		const from = timeline.now();
		const { code, out, err } = await fleet.command(["verify"]);
		if (code === 0 || !timeline.isQuiet(from - 1_000, timeline.now())) return;
		report({
			kind: "verify",
			promised: "verify beside a load reports nothing that is not there",
			seen: `exit code ${code}\n${out}${err}`,
			objects: [],
		});
	}

	/** An import beside the faults: it ends well unless a database does not answer, and a second run finds everything. */
	async #import(): Promise<void> {
		const { fleet, timeline, report } = this.#session;
		const file = join(fleet.folder, `import${this.imports.length}.ndjson`);
		await writeFile(file, importLines(this.imports.length));
		const isDatabase = ({ servers, what }: FaultRecord) =>
			servers === "all" && /mysql|driver/.test(what);
		const from = timeline.now();
		const { code, out, err } = await fleet.command(["import", file]);
		this.imports.push(file);
		const hasExcuse =
			timeline.wasBusy(from) ||
			timeline.faults.some(
				(fault) =>
					isDatabase(fault) &&
					(fault.to ?? Number.POSITIVE_INFINITY) > from - 5_000,
			);
		if (code === 0 || hasExcuse) return;
		report({
			kind: "import",
			promised: "an import goes on while caches do not answer",
			seen: `exit code ${code}\n${out}${err}`,
			objects: [],
		});
	}

	/** Renames and moves at one server, which will be paused in the middle of them. Returns the names that it wants. */
	#startWrites(server: ApiServer): readonly string[] {
		const session = this.#session;
		const names: string[] = [];
		for (const actor of this.#actors) {
			const user = actor.users.at(-1);
			if (user === undefined || user.active.definite() !== true) continue;
			const pins = session.model.pins.filter(
				(pin) => pin.owner === user && pin.exists.definite() === true,
			);
			const pin = pins.at(-1);
			if (pin !== undefined && this.#random.chance(0.3)) {
				const board = pin.board.latest();
				void movePin(session, this.#random, pin, board, null, server);
			} else {
				const username = `frozen_${this.count}_${names.length}`;
				names.push(username);
				void renameUser(session, this.#random, user, { username }, server);
			}
		}
		return names;
	}

	/** Others want the same names, until one of them gets each: a name that was reserved and never used becomes free. */
	async #wantNames(
		names: readonly string[],
		frozen: ApiServer,
		until: number,
	): Promise<void> {
		const { fleet, timeline, signal } = this.#session;
		const wanted = new Set(names);
		const servers = fleet.servers.filter((server) => server !== frozen);
		while (wanted.size > 0 && timeline.now() < until && !signal.aborted) {
			await Promise.all(
				[...wanted].map(async (username) => {
					const users = this.#random.pick(this.#actors).users;
					const user = users[0];
					if (user === undefined || users.length < 2) return;
					const { operation } = await renameUser(
						this.#session,
						this.#random,
						user,
						{ username },
						this.#random.pick(servers),
					);
					if (operation.outcome === "done") wanted.delete(username);
				}),
			);
			await this.#wait(1_000);
		}
	}

	async #alone(
		what: number | ServiceName | Busy,
		work: () => Promise<void>,
	): Promise<void> {
		if (this.#busy.has(what)) return;
		this.#busy.add(what);
		try {
			await work();
		} finally {
			this.#busy.delete(what);
		}
	}
}

/** Users of their own, with boards and pins, who follow each other. */
function importLines(number: number): string {
	const lines: unknown[] = [];
	const keys = [0, 1, 2].map((n) => `${number}-${n}`);
	for (const key of keys) {
		lines.push(
			{
				type: "User",
				key: `u-${key}`,
				fields: { username: `imported_${key.replace("-", "_")}` },
			},
			{
				type: "Board",
				key: `b-${key}`,
				fields: { owner: `u-${key}`, name: "Maps" },
			},
			...[0, 1, 2].map((n) => ({
				type: "Pin",
				key: `p-${key}-${n}`,
				fields: { owner: `u-${key}`, board: `b-${key}`, details: `${n}` },
			})),
		);
	}
	for (const from of keys) {
		for (const to of keys) {
			if (from === to) continue;
			lines.push({ edge: "followUser", from: `u-${from}`, to: `u-${to}` });
		}
	}
	return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}
