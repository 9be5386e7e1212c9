import type { Flavor } from "./queries.ts";
import type { StoreName } from "./servers/corkboard.ts";
import { PEERS, type PeerName } from "./servers/peers.ts";

/** How a client asks. */
export type Way = "text" | "known" | "get" | "token" | "gzip";

/** One row of the tables: a server, and a way to ask it. */
export interface Variant {
	readonly title: string;
	readonly server:
		| { readonly kind: "corkboard"; readonly store: StoreName }
		| { readonly kind: "peer"; readonly peer: PeerName };
	readonly way: Way;
}

const corkboard = (title: string, store: StoreName, way: Way): Variant => ({
	title: `Corkboard, ${title}`,
	server: { kind: "corkboard", store },
	way,
});

const peer = (title: string, name: PeerName): Variant => ({
	title,
	server: { kind: "peer", peer: name },
	way: "text",
});

/** In the order of the tables. */
export const VARIANTS = {
	text: corkboard("text by POST", "layered", "text"),
	known: corkboard("known document by POST", "layered", "known"),
	get: corkboard("known document by GET", "layered", "get"),
	token: corkboard("known document, with a token", "layered", "token"),
	gzip: corkboard("known document, gzip accepted", "layered", "gzip"),
	executed: corkboard(
		"known document, no whole answers kept",
		"executed",
		"known",
	),
	missed: corkboard(
		"memcached and Redis, no whole answers kept",
		"missed",
		"text",
	),
	uncached: corkboard("no in-process cache", "uncached", "text"),
	mysql: corkboard("MySQL alone", "mysql", "text"),
	sqlite: corkboard("embedded SQLite", "sqlite", "text"),
	mercurius: peer("Mercurius", "mercurius"),
	postgraphile: peer("PostGraphile", "postgraphile"),
	yoga: peer("Yoga + DataLoader", "yoga"),
	drizzle: peer("Apollo + DataLoader + Drizzle", "drizzle"),
	drizzlePromises: peer(
		"Apollo + Drizzle, with the same promises",
		"drizzlePromises",
	),
	byHand: peer("node:http, by hand on one database", "byHand"),
	canned: peer("node:http, canned bytes", "canned"),
} as const satisfies Readonly<Record<string, Variant>>;
export type VariantName = keyof typeof VARIANTS;
export const VARIANT_NAMES = Object.keys(VARIANTS) as readonly VariantName[];

/** What the best peer is chosen from. */
export const EXISTING_PEERS: readonly VariantName[] = [
	"mercurius",
	"postgraphile",
	"yoga",
	"drizzle",
];

/** One process serves all variants with the same name. */
export function serverName({ server }: Variant): string {
	return server.kind === "peer" ? server.peer : `corkboard-${server.store}`;
}

export function flavorOf(variant: VariantName): Flavor {
	const { server } = VARIANTS[variant];
	return server.kind === "peer" ? PEERS[server.peer].flavor : "corkboard";
}
