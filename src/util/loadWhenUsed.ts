import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * A CommonJS package that is loaded by the first call. For drivers of servers: to load
 * those that a graph in files does not need took a fifth of the time of a short command.
 */
export function loadWhenUsed<Package>(name: string): () => Package {
	let loaded: Package | undefined;
	return () => {
		if (loaded === undefined) {
			loaded = require(name) as Package;
			letV8MakeStringMethodsFast();
		}
		return loaded;
	};
}

/**
 * ioredis has a class that extends `String`. From its definition on, V8 keeps
 * `String.prototype` as a dictionary, in which each call of `charCodeAt` or `slice` in
 * the process looks for its method: a tenth of a request (measured). V8 makes a fast object
 * of it again when compiled code reads from the object itself, and V8 compiles what was
 * called a few times.
 */
function letV8MakeStringMethodsFast(): void {
	for (let call = 0; call < CALLS; call++) lengthOf(String.prototype);
}

function lengthOf({ length }: { readonly length: number }): number {
	return length;
}

/** V8 decides from 8 calls on. */
const CALLS = 100;
