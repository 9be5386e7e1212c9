/** Sets of GTIDs as MySQL writes them: `UUID:1-5:7,UUID:TAG:3`. */
export interface GtidSet {
	/** How many transactions are in it. */
	readonly size: number;
	/** Whether one transaction, `UUID:NUMBER`, is in it. */
	has(gtid: string): boolean;
}

type Interval = readonly [first: number, last: number];

/** Reads a set as a server printed it. */
export function parseGtidSet(text: string): GtidSet {
	const intervals = new Map<string, Interval[]>();
	for (const part of text.split(",")) {
		const [uuid = "", ...rest] = part.trim().toLowerCase().split(":");
		let source = uuid;
		for (const each of rest) {
			const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(each) ?? [];
			// What is no interval is a tag, to which the next ones belong.
			if (first === undefined) source = `${uuid}:${each}`;
			else {
				const known = intervals.get(source) ?? [];
				known.push([Number(first), Number(last)]);
				intervals.set(source, known);
			}
		}
	}
	const all = [...intervals.values()].flat();
	return {
		size: all.reduce((sum, [first, last]) => sum + last - first + 1, 0),
		has(gtid) {
			const colon = gtid.lastIndexOf(":");
			const number = Number(gtid.slice(colon + 1));
			const some = intervals.get(gtid.slice(0, colon).toLowerCase()) ?? [];
			return some.some(([first, last]) => first <= number && number <= last);
		},
	};
}
