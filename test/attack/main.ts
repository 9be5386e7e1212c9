/** `npm run attack`: real servers under load and faults, and a judge of what they answer. */
import { runNamedProgram } from "../../tools/namedProgram.ts";
import type { ProgramOptions } from "../../tools/programOptions.ts";
import { runWorld, usageOf, type World } from "./world.ts";

/** As a program that is run by its name. */
function programOf<Options extends ProgramOptions>(world: World<Options>) {
	return {
		usage: usageOf(world as unknown as World<ProgramOptions>),
		run: (args: readonly string[]) => runWorld(world, args),
	};
}

await runNamedProgram("attack", {
	graph: {
		about: "clients of a fleet; a model knows what each answer may show",
		load: async () => programOf((await import("./graph/graphWorld.ts")).world),
	},
	migrate: {
		about:
			"an old database that is written to is brought over by runners that are killed",
		load: async () =>
			programOf((await import("./migrate/migrateWorld.ts")).world),
	},
	move: {
		about:
			"shards move there and back under load; no acknowledged write is lost",
		load: async () => programOf((await import("./move/moveWorld.ts")).world),
	},
	promote: {
		about: "a replica is promoted under load; no acknowledged write is lost",
		load: async () =>
			programOf((await import("./promote/promoteWorld.ts")).world),
	},
	queue: {
		about: "workers, their hosts and Redis; every acknowledged job runs",
		async load() {
			// Before anything of src/ is loaded, whose hours it shortens.
			await import("./queue/compressed.ts");
			return programOf((await import("./queue/queueWorld.ts")).world);
		},
	},
	viewers: {
		about:
			"what viewers get from a fleet that caches, beside a process that keeps nothing",
		load: async () =>
			programOf((await import("./viewers/viewersWorld.ts")).world),
	},
});
