/** `npm run attack`: real servers under load and faults, and a judge of what they answer. */
import { runNamedProgram } from "../../tools/namedProgram.ts";

await runNamedProgram("attack", {
	graph: {
		about: "clients of a fleet; a model knows what each answer may show",
		load: () => import("./graph/main.ts"),
	},
	move: {
		about:
			"shards move there and back under load; no acknowledged write is lost",
		load: () => import("./move/main.ts"),
	},
	promote: {
		about: "a replica is promoted under load; no acknowledged write is lost",
		load: () => import("./promote/main.ts"),
	},
	queue: {
		about: "workers, their hosts and Redis; every acknowledged job runs",
		async load() {
			// Before anything of src/ is loaded, whose hours it shortens.
			await import("./queue/compressed.ts");
			return import("./queue/main.ts");
		},
	},
});
