import { reservePort } from "../../test/services/port.ts";
import type { Flavor } from "../queries.ts";
import { startCorkboard } from "../servers/corkboard.ts";
import { PEERS } from "../servers/peers.ts";
import type { ServerProcess } from "../servers/serverProcess.ts";
import { flavorOf, type VariantName } from "../variants.ts";
import type { World } from "../world.ts";
import type { SessionOptions, SessionWay } from "./options.ts";

/** A server under test. */
export interface System {
	readonly name: string;
	/** How it names objects. */
	readonly variant: VariantName;
	readonly flavor: Flavor;
	readonly isOurs: boolean;
	readonly server: ServerProcess;
	/** Servers of one database serve one crowd. */
	readonly crowd: "fleet" | "mysql" | "postgres";
	/** Where its metrics are; null for a peer. */
	readonly admin: string | null;
}

/** A column of the tables: a server, and a way to ask it. */
export interface Contender {
	readonly title: string;
	readonly isOurs: boolean;
	readonly system: System;
	readonly way: SessionWay;
}

/** Ours come first. */
export async function startSystems(
	world: World,
	{ roots, peers, env, inspect }: SessionOptions,
	say: (text: string) => void,
	stack: AsyncDisposableStack,
): Promise<readonly System[]> {
	const systems: System[] = [];
	for (const root of [null, ...roots]) {
		const name = root ?? "Corkboard";
		const admin = stack.use(await reservePort());
		const inspector = stack.use(await reservePort());
		const files = root === null ? world.files : { ...world.files, root };
		const server = await startCorkboard("layered", files, {
			nodeOptions: inspect ? [`--inspect=127.0.0.1:${inspector.port}`] : [],
			env: { CORKBOARD_ADMIN: `127.0.0.1:${admin.port}`, ...env },
		});
		if (inspect) say(`${name}: inspector at ${inspector.port}`);
		systems.push({
			name,
			variant: "known",
			flavor: "corkboard",
			isOurs: true,
			server: stack.use(server),
			crowd: "fleet",
			admin: `http://127.0.0.1:${admin.port}`,
		});
	}
	for (const name of peers) {
		const { title, database } = PEERS[name];
		systems.push({
			name: title,
			variant: name,
			flavor: flavorOf(name),
			isOurs: false,
			server: await world.serverOf(name),
			crowd: database,
			admin: null,
		});
	}
	return systems;
}

const WAY_TITLES = {
	text: "any document",
	known: "known documents",
} as const satisfies Record<SessionWay, string>;

export function contendersOf(
	systems: readonly System[],
	ways: readonly SessionWay[],
): readonly Contender[] {
	return systems.flatMap((system): Contender[] => {
		const { name, isOurs } = system;
		return isOurs
			? ways.map((way) => ({
					system,
					isOurs,
					way,
					title: `${name}, ${WAY_TITLES[way]}`,
				}))
			: [{ system, isOurs, way: "text", title: name }];
	});
}
