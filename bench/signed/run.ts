import type { Progress } from "../progress.ts";
import { spreadOf } from "../report/statistics.ts";
import type { World } from "../world.ts";
import type { Blend } from "./blend.ts";
import type { Cursors } from "./cursors.ts";
import { SHAPE_NAMES, type ShapeName } from "./documents.ts";
import { type Garbage, garbageOf } from "./garbage.ts";
import { type Measured, measureBlend } from "./measure.ts";
import type { Readers, SignedOptions } from "./options.ts";
import type { Cell } from "./report.ts";
import { drawShape, measureShape } from "./shapes.ts";
import type { Asked, Contender, Viewer } from "./systems.ts";

/** Requests of one measurement; then the same come again. */
const REQUESTS = 20_000;
/** Writes in half of the load, in the measurement of garbage, and while servers warm up. Percent. */
const USUAL_WRITES = 5;
const USUAL_ROW = rowOf("signed", USUAL_WRITES);
/** No request of a shape comes again in one measurement. */
const SHAPE_REQUESTS: Readonly<Record<ShapeName, number>> = {
	likers: 8_000,
	middle: 3_000,
	nodes: 4_000,
	viewer: 8_000,
	follows: 8_000,
};
const SHAPE_TITLES: Readonly<Record<ShapeName, string>> = {
	likers: "board, 20 pins, 5 likers, 2 of their boards",
	middle: "page of 30 in the middle of a list, first time",
	nodes: "50 pins by id, with owner and board",
	viewer: "viewer's own page, with viewer fields",
	follows: "two levels of follows",
};
/** How long a shape is measured, as a part of other measurements. */
const SHAPE_TIME = 0.6;

export interface RunOf {
	readonly world: World;
	readonly viewers: readonly Viewer[];
	readonly contenders: readonly Contender[];
	readonly options: SignedOptions;
	readonly progress: Progress;
}

/** The parts of one run, and what they measured. */
export class Run {
	readonly #of: RunOf;
	readonly cells = {
		blend: [] as Cell[],
		half: [] as Cell[],
		shapes: [] as Cell[],
	};
	readonly collected: Record<string, Garbage> = {};
	#turn = 0;

	constructor(of: RunOf) {
		this.#of = of;
	}

	get failed(): number {
		return Object.values(this.cells)
			.flat()
			.reduce((sum, { failed }) => sum + failed, 0);
	}

	/** What V8 compiles, and what a cache in the process holds. */
	async warm(): Promise<void> {
		const { contenders, options, progress } = this.#of;
		for (const contender of contenders) {
			progress.say(`warming up: ${contender.title}`);
			// Ours are asked in two ways.
			const seconds = options.warm / (contender.system.isOurs ? 2 : 4);
			await this.#send(contender, "signed", USUAL_WRITES, {
				seconds: seconds * 0.7,
			});
			await this.#send(contender, "anonymous", 0, { seconds: seconds * 0.3 });
		}
	}

	async blend(): Promise<void> {
		const { contenders, options } = this.#of;
		for (let round = 0; round < options.rounds; round++) {
			for (const readers of options.readers) {
				for (const writes of options.writes) {
					for (const contender of contenders) {
						this.#keep("blend", contender, {
							row: rowOf(readers, writes),
							round,
							...(await this.#send(contender, readers, writes)),
						});
					}
				}
			}
		}
	}

	/** An open loop: clients do not wait for each other. */
	async half(): Promise<void> {
		const { contenders, options } = this.#of;
		for (const contender of contenders) {
			const measured = this.cells.blend.filter(
				({ row, title }) => row === USUAL_ROW && title === contender.title,
			);
			if (measured.length === 0) {
				measured.push({
					row: USUAL_ROW,
					round: 0,
					title: contender.title,
					...(await this.#send(contender, "signed", USUAL_WRITES)),
				});
			}
			const carried = spreadOf(measured.map(({ perSecond }) => perSecond));
			for (let round = 0; round < options.rounds; round++) {
				this.#keep("half", contender, {
					row: USUAL_ROW,
					round,
					...(await this.#send(contender, "signed", USUAL_WRITES, {
						seconds: options.seconds * 2,
						rate: (carried?.median ?? 0) / 2,
					})),
				});
			}
		}
	}

	async garbage(): Promise<void> {
		const { contenders, options, progress } = this.#of;
		for (const contender of contenders) {
			const { system, title } = contender;
			if (system.inspector === null) continue;
			const [garbage] = await Promise.all([
				garbageOf(system.inspector, options.seconds),
				this.#send(contender, "signed", USUAL_WRITES, {
					seconds: options.seconds * 2 + 1,
				}),
			]);
			this.collected[title] = garbage;
			progress.say(
				`${title}: garbage ${(garbage.profiled * 100).toFixed(1)} %`,
			);
		}
	}

	async shapes(cursors: Cursors): Promise<void> {
		const { contenders, options } = this.#of;
		const rows = SHAPE_NAMES.flatMap((name) =>
			options.readers
				// There is no viewer of an anonymous request; a first time is one, no matter who asks.
				.filter(
					(readers) =>
						readers === "signed" || (name !== "viewer" && name !== "middle"),
				)
				.map((readers) => ({ name, readers })),
		);
		const ours = contenders.filter(({ isOurs }) => isOurs).length;
		// A tenth, before V8 has compiled the shapes.
		let pages = Math.ceil(cursors.left / 10 / ours);
		for (let round = -1; round < options.rounds; round++) {
			for (const { name, readers } of rows) {
				const most = SHAPE_REQUESTS[name];
				const count = name === "middle" ? Math.min(pages, most) : most;
				await this.#shape(cursors, { name, readers, round, count });
			}
			if (round < 0) {
				pages = Math.floor(cursors.left / ours / options.rounds);
			}
		}
	}

	/** Round -1 is not kept. */
	async #shape(
		cursors: Cursors,
		{
			name,
			readers,
			round,
			count,
		}: {
			readonly name: ShapeName;
			readonly readers: Readers;
			readonly round: number;
			readonly count: number;
		},
	): Promise<void> {
		const { world, viewers, contenders, options } = this.#of;
		let asked: readonly Asked[] = [];
		for (const contender of contenders) {
			const { system } = contender;
			if (system.flavor === "postgraphile") continue;
			// Peers keep nothing: they may be asked what another was.
			if (system.isOurs || asked.length === 0) {
				asked = drawShape(world, name, {
					viewers,
					cursors,
					seed: this.#nextSeed(),
					isSigned: readers === "signed",
					count,
				});
			}
			const measured = await measureShape(world, contender, asked, {
				seconds: options.seconds * SHAPE_TIME * (round < 0 ? 0.5 : 1),
				connections: options.connections,
			});
			const row = `${readers}: ${SHAPE_TITLES[name]}`;
			if (round >= 0) {
				this.#keep("shapes", contender, { row, round, ...measured });
			}
		}
	}

	/** In a closed loop, for as long as the options say. */
	#send(
		contender: Contender,
		readers: Readers,
		writes: number,
		{
			seconds = this.#of.options.seconds,
			rate = null,
		}: { readonly seconds?: number; readonly rate?: number | null } = {},
	): Promise<Measured> {
		const { world, viewers, options } = this.#of;
		const blend: Blend = {
			viewers,
			isSigned: readers === "signed",
			writes: writes / 100,
			count: REQUESTS,
			seed: this.#nextSeed(),
		};
		return measureBlend(world, contender, blend, {
			seconds,
			rate,
			connections: options.connections,
		});
	}

	/** Every list is drawn anew. */
	#nextSeed(): number {
		return this.#of.options.seed * 1_000 + this.#turn++;
	}

	#keep(
		part: keyof Run["cells"],
		{ title }: Contender,
		measured: Omit<Cell, "title">,
	): void {
		const cell = { ...measured, title };
		this.cells[part].push(cell);
		const { row, round, cpu, perSecond, reads, writes } = cell;
		this.#of.progress.say(
			[
				`${part} ${round + 1}`.padEnd(9),
				row.padEnd(24),
				title.padEnd(28),
				`${cpu.toFixed(3)} ms CPU`,
				`${perSecond.toFixed(0)}/s`.padStart(7),
				`reads ${reads.p50.toFixed(1)} · ${reads.p99.toFixed(0)}`,
				`writes ${writes.p50.toFixed(1)} · ${writes.p99.toFixed(0)} ms`,
				...(cell.refused > 0 ? [`${cell.refused} refused`] : []),
				...(cell.failed > 0
					? [`${cell.failed} failed: ${cell.firstError?.slice(0, 300)}`]
					: []),
			].join("  "),
		);
	}
}

function rowOf(readers: Readers, writes: number): string {
	return `${readers}, ${writes} % writes`;
}
