/**
 * Monaco's workers are files beside this one. Without this setting Monaco runs
 * them on the page's own thread.
 */
const NAMES: ReadonlySet<string> = new Set(["json", "graphql"]);

Object.assign(globalThis, {
	MonacoEnvironment: {
		getWorker(_id: string, label: string): Worker {
			const name = NAMES.has(label) ? label : "editor";
			return new Worker(new URL(`./${name}.worker.js`, import.meta.url), {
				type: "module",
			});
		},
	},
});
