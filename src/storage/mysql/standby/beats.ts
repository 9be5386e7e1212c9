import { randomUUID } from "node:crypto";
import { deadlineIn } from "../../../util/deadline.ts";
import type { Host } from "../driver/host.ts";
import type { StandbyLag } from "./standbyLag.ts";

/** In the database of the host. */
export const BEAT_TABLE = {
	name: "beat",
	lines: [
		"id TINYINT UNSIGNED NOT NULL PRIMARY KEY",
		"at BIGINT UNSIGNED NOT NULL",
		"holder VARBINARY(36) NOT NULL",
	],
};

const BEAT = "`corkboard`.`beat`";
/** The server's clock. Microseconds since 1970. */
const CLOCK = "CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS UNSIGNED)";

/** The beat that a host has, as a part of a statement. Without the row: no row. */
export function beatColumn(): {
	readonly value: string;
	readonly from: string;
} {
	return { value: "at", from: `${BEAT} WHERE id = 1` };
}

const EVERY_MS = 500;
/** A process that has not written for so long has lost the lease. Microseconds. */
const LEASE_US = 1_500_000;
const ANSWER_MS = 1_000;
/** Connections of the standby that are kept open. */
const KEPT_OPEN = 2;

/**
 * Asks both hosts of a pair twice a second: the primary for its clock, and the
 * standby for its beat. One process of the fleet writes the primary's beat: who
 * wrote it last, unless that is too long ago. So each beat renews the lease, and
 * a process that ends is replaced two seconds later.
 */
export class Beats implements Disposable {
	readonly #primary: Host;
	readonly #standby: Host;
	readonly #lag: StandbyLag;
	readonly #holder = randomUUID();
	readonly #now = () => performance.now();
	#timer: NodeJS.Timeout | null = null;
	#asksPrimary = false;
	#asksStandby = false;
	#isClosed = false;

	constructor(primary: Host, standby: Host, lag: StandbyLag) {
		this.#primary = primary;
		this.#standby = standby;
		this.#lag = lag;
	}

	/** From the first read on: commands that read no feed leave the hosts alone. */
	start(): void {
		if (this.#timer !== null || this.#isClosed) return;
		const next = () => {
			// Each by itself: one that does not answer holds up nothing.
			if (!this.#asksPrimary) void this.askPrimary();
			if (!this.#asksStandby) void this.askStandby();
			if (this.#isClosed) return;
			this.#timer = setTimeout(next, EVERY_MS).unref();
		};
		next();
	}

	[Symbol.dispose](): void {
		this.#isClosed = true;
		if (this.#timer !== null) clearTimeout(this.#timer);
	}

	/** Resolves to whether the primary answered. */
	async askPrimary(signal?: AbortSignal): Promise<boolean> {
		this.#asksPrimary = true;
		try {
			const askedAt = this.#now();
			const options = () => ({
				shard: 0,
				deadline: deadlineIn(ANSWER_MS, signal),
			});
			const [row] = await this.#primary.rows(
				{
					name: "beat",
					text: `SELECT ${CLOCK}, (SELECT at FROM ${BEAT} WHERE id = 1), (SELECT holder FROM ${BEAT} WHERE id = 1)`,
					values: [],
				},
				options(),
			);
			const [clock, at, holder] = row ?? [];
			const us = Number(clock);
			this.#lag.notePrimary(us, Number(at ?? 0), askedAt, this.#now());
			const isMine = String(holder) === this.#holder;
			if (isMine || at === null || Number(at) < us - LEASE_US) {
				await this.#primary.run(
					{
						name: "beat",
						text: `INSERT INTO ${BEAT} (id, at, holder) VALUES (1, ${CLOCK}, ?)
							ON DUPLICATE KEY UPDATE
								holder = IF(holder = VALUES(holder) OR at < VALUES(at) - ${LEASE_US}, VALUES(holder), holder),
								at = IF(holder = VALUES(holder), VALUES(at), at)`,
						values: [this.#holder],
					},
					options(),
				);
			}
			return true;
		} catch {
			// Reads find out what is wrong with the host, and say so.
			return false;
		} finally {
			this.#asksPrimary = false;
		}
	}

	async askStandby(): Promise<void> {
		this.#asksStandby = true;
		const { value, from } = beatColumn();
		const ask = async () => {
			const [row] = await this.#standby.rows(
				{ name: "beat", text: `SELECT ${value} FROM ${from}`, values: [] },
				{ shard: 0, deadline: deadlineIn(ANSWER_MS) },
			);
			if (row !== undefined) this.#lag.noteBeat(Number(row[0]));
		};
		await Promise.allSettled(Array.from({ length: KEPT_OPEN }, ask));
		this.#asksStandby = false;
	}
}
