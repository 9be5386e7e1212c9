/** `npm run bench`: Corkboard beside its peers; `npm run bench -- NAME` is one of the others. */
import { runNamedProgram } from "../tools/namedProgram.ts";

await runNamedProgram("bench", {
	comparison: {
		about: "Corkboard beside its peers, on one graph",
		load: () => import("./comparison.ts"),
	},
	sessions: {
		about: "people with an app, whose requests follow from each other",
		load: () => import("./sessions/main.ts"),
	},
	guard: {
		about: "what one request takes; a test refuses more",
		load: () => import("./guard/main.ts"),
	},
	pairs: {
		about: "what a setting or a change adds to the CPU of a request",
		load: () => import("./pairs.ts"),
	},
	signed: {
		about: "what a request takes when many are signed in and some write",
		load: () => import("./signed/main.ts"),
	},
	overload: {
		about: "what clients get from a server that is asked for too much",
		load: () => import("./overload/main.ts"),
	},
	feed: {
		about: "home feeds: fan-out, lag, pages, disk",
		load: () => import("./feed/main.ts"),
	},
	standby: {
		about: "feed lists of a pair whose primary fails",
		load: () => import("./standby/main.ts"),
	},
	queue: {
		about: "the queue beside others",
		load: () => import("./queue/main.ts"),
	},
	board: {
		about: "how long the archiving of a large board takes",
		load: () => import("./queue/board.ts"),
	},
	rotation: {
		about: "how long an enqueue waits while disk is given back",
		load: () => import("./queue/rotation.ts"),
	},
	density: {
		about: "what more shards on a MySQL host cost",
		load: () => import("./density/main.ts"),
	},
	seed: {
		about: "a fleet of 4,096 shards: starts, serves, is verified and promoted",
		load: () => import("./density/seed.ts"),
	},
	capacity: {
		about:
			"the tables of bench/results/capacity.md, from the inputs in its source",
		load: () => import("./capacity/main.ts"),
	},
});
