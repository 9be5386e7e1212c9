/** A job that waits for its lists. */
interface Entry<Job> {
	readonly job: Job;
	readonly lists: readonly string[];
	/** Whether it may run in one group with other jobs of its only list. */
	readonly groupable: boolean;
	running: boolean;
}

/**
 * Jobs that share a list run one after another, in order of arrival; others run
 * side by side. So a hot list holds one connection and not the whole pool, and
 * the jobs that wait for it run in groups, each in one transaction: 8,752
 * changes a second instead of 1,030 (docs/consistency.md, 1. Lists and counts).
 */
export class ListQueue<Job> {
	readonly #run: (jobs: readonly Job[]) => Promise<number>;
	readonly #maxTogether: number;
	readonly #maxWaiting: number;
	/** By list: running and waiting jobs in order of arrival. */
	readonly #lines = new Map<string, Entry<Job>[]>();
	#waiting = 0;

	/** `run` returns how many of its jobs, from the first, are done: at least one. The others stay in the queue. It never rejects. */
	constructor(options: {
		readonly run: (jobs: readonly Job[]) => Promise<number>;
		readonly maxTogether: number;
		readonly maxWaiting: number;
	}) {
		this.#run = options.run;
		this.#maxTogether = options.maxTogether;
		this.#maxWaiting = options.maxWaiting;
	}

	/** False if too many jobs wait already. `lists` are names without duplicates. */
	add(job: Job, lists: readonly string[], together: boolean): boolean {
		if (this.#waiting >= this.#maxWaiting) return false;
		const entry: Entry<Job> = {
			job,
			lists,
			groupable: together && lists.length === 1,
			running: false,
		};
		this.#waiting += 1;
		for (const list of lists) {
			const line = this.#lines.get(list);
			if (line === undefined) this.#lines.set(list, [entry]);
			else line.push(entry);
		}
		this.#start(entry);
		return true;
	}

	/** Starts the job, and those that can run with it, if it is the first of all its lists. */
	#start(entry: Entry<Job>): void {
		if (entry.running) return;
		const lines = entry.lists.map(
			(list) => this.#lines.get(list) as Entry<Job>[],
		);
		if (lines.some(([first]) => first !== entry)) return;
		const group = [entry];
		if (entry.groupable) {
			const [line = []] = lines;
			while (group.length < this.#maxTogether) {
				const next = line[group.length];
				if (next === undefined || !next.groupable) break;
				group.push(next);
			}
		}
		for (const one of group) one.running = true;
		this.#run(group.map(({ job }) => job)).then((done) => {
			group.forEach((one, index) => {
				if (index < done) this.#remove(one);
				else one.running = false;
			});
			for (const list of entry.lists) {
				const first = this.#lines.get(list)?.[0];
				if (first !== undefined) this.#start(first);
			}
		});
	}

	#remove(entry: Entry<Job>): void {
		this.#waiting -= 1;
		for (const list of entry.lists) {
			const line = this.#lines.get(list) ?? [];
			line.splice(line.indexOf(entry), 1);
			if (line.length === 0) this.#lines.delete(list);
		}
	}
}
