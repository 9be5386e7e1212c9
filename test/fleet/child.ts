import { createInterface } from "node:readline";
import type { Id } from "../../src/id/ids.ts";
import { type Addresses, openProcess, type ProcessOptions } from "./fleet.ts";
import { both, NAIVE, unreachable } from "./naive.ts";

/** What a process of its own is told, a line of JSON each; it answers with a line of JSON. */
export type Order =
	| {
			readonly do: "open";
			readonly addresses: Addresses;
			readonly as: "ours" | "naive" | "unreachable";
			readonly channel: boolean;
			/** Whether its clock stands still: what it has in memory does not age. */
			readonly still?: boolean;
	  }
	/** Answered when it has come as far as that step, where it then stands. */
	| { readonly do: "reach"; readonly step: string }
	/** Not answered before it is done. */
	| {
			readonly do: "edge";
			readonly mapping: string;
			readonly from: Id;
			readonly to: Id;
			readonly present: boolean;
	  }
	| { readonly do: "modify"; readonly id: Id; readonly details: string }
	| { readonly do: "head"; readonly mapping: string; readonly from: Id }
	| { readonly do: "object"; readonly id: Id }
	| { readonly do: "news" };

const KINDS: Readonly<
	Record<(Order & { do: "open" })["as"], NonNullable<ProcessOptions["meddle"]>>
> = {
	ours: {},
	naive: {
		layers: both(NAIVE.deletesAfterCommitOnly),
		// And remembers nothing of it.
		store: (store) => ({ ...store, sharesCaches: false }),
	},
	unreachable: { layers: both(unreachable) },
};

let opened: Awaited<ReturnType<typeof openProcess>> | undefined;

async function obey(order: Order): Promise<unknown> {
	if (order.do === "open") {
		const { addresses, as, channel, still = false } = order;
		opened = await openProcess(addresses, {
			channel,
			meddle: KINDS[as],
			...(still && { now: () => 0 }),
		});
		return "opened";
	}
	if (opened === undefined) throw new TypeError("expected to be open");
	const { writes, pauses } = opened;
	switch (order.do) {
		case "reach":
			await pauses.hold(order.step).reached;
			return order.step;
		case "edge":
			await writes.setEdge(
				opened.mapping(order.mapping),
				order.from,
				order.to,
				order.present,
			);
			return "done";
		case "modify":
			await writes.modify(order.id, (data) => ({
				...data,
				details: order.details,
			}));
			return "done";
		case "head":
			return opened.head(order.mapping, order.from);
		case "object":
			return opened.object(order.id);
		case "news":
			return opened.news;
	}
}

if (process.argv[1] === import.meta.filename) {
	for await (const line of createInterface({ input: process.stdin })) {
		const { nth, order } = JSON.parse(line) as { nth: number; order: Order };
		obey(order).then(
			(answer) => console.log(JSON.stringify({ nth, answer })),
			(error) => console.log(JSON.stringify({ nth, error: String(error) })),
		);
	}
	await opened?.[Symbol.asyncDispose]();
}
