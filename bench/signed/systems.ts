import { reservePort } from "../../test/services/port.ts";
import type { Flavor } from "../queries.ts";
import { signToken, spellRequest } from "../requests.ts";
import { startCorkboard } from "../servers/corkboard.ts";
import { PEERS } from "../servers/peers.ts";
import type { ServerProcess } from "../servers/serverProcess.ts";
import { flavorOf, type VariantName } from "../variants.ts";
import type { World } from "../world.ts";
import { type DocumentName, documentOf } from "./documents.ts";
import type { SignedOptions } from "./options.ts";
import { Taken } from "./taken.ts";

/** Sent as a text, it is a document that Corkboard does not know. */
const UNKNOWN = " # in no file";

/** A server under test. */
export interface System {
	readonly name: string;
	/** How it names objects. */
	readonly variant: VariantName;
	readonly flavor: Flavor;
	readonly isOurs: boolean;
	readonly server: ServerProcess;
	/** The port of its inspector; null for a peer. */
	readonly inspector: number | null;
	/** In its database. */
	readonly taken: Taken;
}

/** A column of the tables: a server, and a way to ask it. */
export interface Contender {
	readonly title: string;
	readonly isOurs: boolean;
	readonly system: System;
	readonly way: "text" | "known";
}

/** Somebody who is signed in, by their number in the relational schema. */
export interface Viewer {
	readonly user: number;
	readonly board: number;
	/** On boards of theirs. */
	readonly pins: readonly number[];
	readonly tokens: { readonly corkboard: string; readonly peers: string };
}

/** One request before it is spelled for a server. */
export interface Asked {
	readonly name: DocumentName;
	readonly isWrite: boolean;
	/** Null: anonymous. */
	readonly viewer: Viewer | null;
	readonly variables: (names: Names) => Readonly<Record<string, unknown>>;
}

/** How a server spells what is asked for. */
export interface Names {
	readonly system: System;
	/** By import key. */
	id(key: string): string;
	/** As `nodes(ids:)` takes it. */
	globalId(key: string): string;
}

/** All of one database have the same `Taken`. Ours come first. */
export async function startSystems(
	world: World,
	{ roots, peers }: SignedOptions,
	stack: AsyncDisposableStack,
): Promise<readonly System[]> {
	const systems: System[] = [];
	const fleet = new Taken(world.graph);
	for (const root of [null, ...roots]) {
		const { port } = stack.use(await reservePort());
		const files = root === null ? world.files : { ...world.files, root };
		systems.push({
			name: root ?? "Corkboard",
			variant: "known",
			flavor: "corkboard",
			isOurs: true,
			server: stack.use(
				await startCorkboard("layered", files, {
					nodeOptions: [`--inspect=127.0.0.1:${port}`],
				}),
			),
			inspector: port,
			taken: fleet,
		});
	}
	const relational = {
		mysql: new Taken(world.graph),
		postgres: new Taken(world.graph),
	};
	for (const name of peers) {
		systems.push({
			name: PEERS[name].title,
			variant: name,
			flavor: flavorOf(name),
			isOurs: false,
			server: await world.serverOf(name),
			inspector: null,
			taken: relational[PEERS[name].database],
		});
	}
	return systems;
}

export function contendersOf(systems: readonly System[]): readonly Contender[] {
	return systems.flatMap((system): Contender[] => {
		const { name, isOurs } = system;
		const text = { system, isOurs, way: "text" } as const;
		return isOurs
			? [
					{ ...text, title: `${name}, any document` },
					{ ...text, title: `${name}, known documents`, way: "known" },
				]
			: [{ ...text, title: name }];
	});
}

/** Users with a board and pins, as many as are wanted, in the order of the graph. */
export async function viewersOf(
	{ graph, idOf }: World,
	count: number,
): Promise<readonly Viewer[]> {
	const owned = new Map<number, { board: number; pins: number[] }>();
	for (const [n, { board }] of graph.pins.entries()) {
		const owner = graph.boards[board]?.owner;
		// The first board is the longest one by far.
		if (owner === undefined || board === 0) continue;
		const own = owned.get(owner);
		if (own === undefined) owned.set(owner, { board, pins: [n + 1] });
		else own.pins.push(n + 1);
	}
	return Promise.all(
		[...owned].slice(0, count).map(async ([owner, { board, pins }]) => ({
			user: owner + 1,
			board: board + 1,
			pins,
			tokens: {
				corkboard: await signToken(idOf("known", `u:${owner + 1}`)),
				peers: await signToken(String(owner + 1)),
			},
		})),
	);
}

/** A whole HTTP request. */
export function spell(
	world: World,
	{ system, way }: Contender,
	{ name, viewer, variables }: Asked,
): string {
	const { flavor, variant, isOurs } = system;
	const text = documentOf(flavor, name);
	const id = (key: string) => world.idOf(variant, key);
	return spellRequest(
		{
			text: isOurs && way === "text" ? text + UNKNOWN : text,
			variables: variables({
				system,
				id,
				globalId: isOurs ? id : (key) => key,
			}),
		},
		way,
		viewer === null
			? {}
			: { token: viewer.tokens[isOurs ? "corkboard" : "peers"] },
	);
}
