import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * A CommonJS package that is loaded by the first call. For drivers of servers: to load
 * those that a graph in files does not need took a fifth of the time of a short command.
 */
export function loadWhenUsed<Package>(name: string): () => Package {
	let loaded: Package | undefined;
	return () => {
		loaded ??= require(name) as Package;
		return loaded;
	};
}
