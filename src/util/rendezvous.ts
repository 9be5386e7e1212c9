import { fnv1a } from "./fnv1a.ts";

/**
 * The nodes in the order of their weight for this key: rendezvous hashing.
 * Each key has its own order, and a node that comes or goes changes nothing
 * about the order of the others.
 */
export function rendezvousOrder<Node extends string | number>(
	key: string,
	nodes: readonly Node[],
): Node[] {
	const start = fnv1a(`${key}\0`);
	return nodes
		.map((node) => ({ node, weight: mix(fnv1a(String(node), start)) }))
		.sort((one, other) => other.weight - one.weight || compare(one, other))
		.map(({ node }) => node);
}

function compare<Node extends string | number>(
	{ node: one }: { readonly node: Node },
	{ node: other }: { readonly node: Node },
): number {
	return one < other ? -1 : one > other ? 1 : 0;
}

/** FNV's last bytes hardly reach its high bits, so they are mixed: the end of MurmurHash3. */
function mix(hash: number): number {
	let mixed = hash;
	mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
	mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
	return (mixed ^ (mixed >>> 16)) >>> 0;
}
