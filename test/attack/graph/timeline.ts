/** Milliseconds of `performance.now()`. */
export type Time = number;

/** Something that was wrong with the fleet, from just before it began until the fleet had what it needs again. */
export interface FaultRecord {
	readonly what: string;
	/** Whose service it impaired. */
	readonly servers: "all" | ReadonlySet<number>;
	readonly from: Time;
	to: Time | null;
	/** After so long it is no excuse for servers that it does not impair; 0: it is no fault. Milliseconds. */
	readonly excuseMs: number;
}

/** What was wrong when. The bounds of freshness count from moments at which nothing was. */
export class Timeline {
	readonly #faults: FaultRecord[] = [];
	readonly #servers: readonly number[];
	#busyAt = Number.NEGATIVE_INFINITY;
	readonly now: () => Time;

	constructor(
		servers: readonly number[],
		now: () => Time = () => performance.now(),
	) {
		this.#servers = servers;
		this.now = now;
	}

	get faults(): readonly FaultRecord[] {
		return this.#faults;
	}

	begin(
		what: string,
		servers: "all" | readonly number[],
		{ from = this.now(), excuseMs = Number.POSITIVE_INFINITY } = {},
	): FaultRecord {
		const fault: FaultRecord = {
			what,
			servers: servers === "all" ? "all" : new Set(servers),
			from,
			to: null,
			excuseMs,
		};
		this.#faults.push(fault);
		return fault;
	}

	end(fault: FaultRecord): void {
		fault.to ??= this.now();
	}

	/** Whether nothing was wrong, with anyone or with one server. */
	isQuiet(from: Time, to: Time, server?: number): boolean {
		return !this.#faults.some(
			(fault) =>
				fault.excuseMs > 0 &&
				fault.from <= to &&
				(fault.to ?? Number.POSITIVE_INFINITY) >= from &&
				(server === undefined || impairs(fault, server)),
		);
	}

	/** Whether something that was wrong lately may keep this server from answering. */
	hasExcuse(from: Time, to: Time, server: number, recoveryMs: number): boolean {
		return this.#faults.some((fault) => {
			if (fault.from > to || fault.excuseMs === 0) return false;
			const end = fault.to ?? Number.POSITIVE_INFINITY;
			if (impairs(fault, server) || !Number.isFinite(fault.excuseMs)) {
				return end + recoveryMs >= from;
			}
			return Math.min(end, fault.from + fault.excuseMs) >= from;
		});
	}

	/** Whether something is wrong with one server and not with all. */
	isImpaired(server: number): boolean {
		return this.#faults.some(
			({ servers, to }) =>
				to === null && servers !== "all" && servers.has(server),
		);
	}

	/** Other work takes the processors now: what is late has an excuse. */
	noteBusy(): void {
		this.#busyAt = this.now();
	}

	wasBusy(since: Time): boolean {
		return this.#busyAt >= since;
	}

	/** The first moment at which nothing had been wrong for `ms`, all of them after `after`. */
	quietAfter(after: Time, ms: number): Time {
		return this.#calm(after, ms, () => true);
	}

	/** The first moment at which one server had had all it needs for `ms`: it can deliver what others cannot. */
	deliverableAfter(after: Time, ms: number): Time {
		return Math.min(
			...this.#servers.map((server) =>
				this.#calm(after, ms, (fault) => impairs(fault, server)),
			),
		);
	}

	#calm(
		after: Time,
		ms: number,
		counts: (fault: FaultRecord) => boolean,
	): Time {
		let since = after;
		for (const fault of this.#faults.toSorted((a, b) => a.from - b.from)) {
			if (fault.excuseMs === 0 || !counts(fault)) continue;
			const to = fault.to ?? Number.POSITIVE_INFINITY;
			if (to < since) continue;
			if (fault.from - since >= ms) break;
			since = to;
		}
		return this.now() - since >= ms ? since + ms : Number.POSITIVE_INFINITY;
	}
}

function impairs({ servers }: FaultRecord, server: number): boolean {
	return servers === "all" || servers.has(server);
}
