import type { FleetCaches } from "../../topology/types.ts";
import { fnv1a } from "../../util/fnv1a.ts";
import type { CacheConnection } from "../cacheConnection.ts";
import {
	type CacheSettings,
	type Placing,
	placingOf,
	type ServerList,
	type ServerRef,
	serverLists,
} from "../serverList.ts";
import {
	type CommandConnection,
	RedisConnections,
} from "./redisConnections.ts";

/** Where a name is that processes share: a limit, a day of usage, a text. */
export interface RedisByName {
	of(name: string): RedisConnections;
	/** All of them. */
	readonly all: readonly RedisConnections[];
}

/** The connections of one process to the Redis of the settings, or to those of the map. */
export class RedisServers implements RedisByName {
	readonly #servers = new Map<string, RedisConnections>();
	#lists: readonly ServerList[] = [];
	readonly #settings: CacheSettings;
	#placing: Placing = () => null;
	#onIdentified = () => {};

	constructor(
		/** The Redis of the settings; null: none. */
		settings: string | null,
		/** The caches that the map names. */
		caches?: FleetCaches,
	) {
		this.#settings = { memcached: [], redis: settings };
		this.use(caches);
	}

	/** The lists in use: of one server at least. */
	get lists(): readonly ServerList[] {
		return this.#lists;
	}

	set onIdentified(listener: () => void) {
		this.#onIdentified = listener;
		for (const each of this.#servers.values()) each.onIdentified = listener;
	}

	use(caches: FleetCaches | undefined): void {
		const lists = serverLists(caches, this.#settings, "lists");
		const refs = lists.flatMap(({ servers }) => servers);
		const ids = new Set(refs.map(({ id }) => id));
		// Their connections close with the last who uses them.
		for (const id of this.#servers.keys()) {
			if (!ids.has(id)) this.#servers.delete(id);
		}
		for (const { id, url } of refs) {
			const known = this.#servers.get(id);
			if (known !== undefined) known.url = url;
			else {
				const opened = new RedisConnections(url);
				opened.onIdentified = this.#onIdentified;
				this.#servers.set(id, opened);
			}
		}
		this.#lists = lists;
		const list = lists.find(({ servers }) => servers.length > 0);
		if (list === undefined) throw new TypeError("expected a Redis");
		this.#placing = placingOf(list);
	}

	/** Each once. */
	get refs(): readonly ServerRef[] {
		const refs = this.#lists.flatMap(({ servers }) => servers);
		return [...new Map(refs.map((ref) => [ref.id, ref])).values()];
	}

	/** What processes compare of it. */
	partOf(redis: RedisConnections): string | null {
		const found = this.refs.find(({ id }) => this.at(id) === redis);
		return found?.part ?? null;
	}

	/** By the server's id. */
	at(id: string): RedisConnections {
		const found = this.#servers.get(id);
		if (found === undefined)
			throw new TypeError(`expected a server, got ${id}`);
		return found;
	}

	of(name: string): RedisConnections {
		return this.at(this.#placing(fnv1a(name))?.id ?? "");
	}

	get all(): readonly RedisConnections[] {
		return [...this.#servers.values()];
	}
}

/** Command connections of one user, to the server of each name. */
export class CommandsByName implements Disposable {
	readonly #redis: RedisByName;
	readonly #options: Parameters<RedisConnections["forCommands"]>[0];
	readonly #opened = new Map<
		RedisConnections,
		CacheConnection<CommandConnection>
	>();

	constructor(
		redis: RedisByName,
		options: Parameters<RedisConnections["forCommands"]>[0],
	) {
		this.#redis = redis;
		this.#options = options;
	}

	of(name: string): CacheConnection<CommandConnection> {
		const redis = this.#redis.of(name);
		let commands = this.#opened.get(redis);
		if (commands === undefined) {
			commands = redis.forCommands(this.#options);
			this.#opened.set(redis, commands);
		}
		return commands;
	}

	[Symbol.dispose](): void {
		for (const commands of this.#opened.values()) commands[Symbol.dispose]();
	}
}
