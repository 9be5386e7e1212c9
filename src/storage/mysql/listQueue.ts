/** One that waits for its lists. */
interface Entry<Job> {
	readonly job: Job;
	readonly lists: readonly string[];
	/** Whether it may run together with others of its one list. */
	readonly groupable: boolean;
	running: boolean;
}

/**
 * Jobs that share a list run one after another, in the order they came; others
 * side by side. So a list that everybody writes to holds one connection and not
 * all of them, and of those that wait for it as many as may run together do so
 * in one transaction (PROTOCOLS §1: 1,030 changes a second one by one, 8,752
 * coalesced).
 */
export class ListQueue<Job> {
	readonly #run: (jobs: readonly Job[]) => Promise<number>;
	readonly #maxTogether: number;
	readonly #maxWaiting: number;
	/** By list: who is at work on it or waits for it, first come first. */
	readonly #lines = new Map<string, Entry<Job>[]>();
	#waiting = 0;

	/** `run` answers how many of its jobs, from the first, it has dealt with: at least one. The others stay in line. It never rejects. */
	constructor(options: {
		readonly run: (jobs: readonly Job[]) => Promise<number>;
		readonly maxTogether: number;
		readonly maxWaiting: number;
	}) {
		this.#run = options.run;
		this.#maxTogether = options.maxTogether;
		this.#maxWaiting = options.maxWaiting;
	}

	/** False when too many wait already. `lists` are names, each once. */
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

	/** Starts it, and those that can go with it, if it is first in all of its lines. */
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
