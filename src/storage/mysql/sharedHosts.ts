import type { Environment } from "../../topology/secret.ts";
import type { HostWriteGuard } from "./driver/commitProtocol.ts";
import { Host, type HostLimits } from "./driver/host.ts";
import { addressOf } from "./serverAddress.ts";

/**
 * The hosts of one process, with their connections. Each is opened by the first
 * that takes its URL and closed when the last has given it back: versions of a
 * topology share the hosts that they have in common, so that a new version opens
 * connections only to hosts that are new in it.
 *
 * Hosts are counted by their whole URL. A URL with another password is another
 * host: the connections of the former one stay with the calls that use them.
 */
export class SharedHosts {
	readonly #limits: HostLimits;
	readonly #readOnly: boolean;
	readonly #environment: Environment;
	readonly #guard: HostWriteGuard | null;
	readonly #byUrl = new Map<string, Host>();
	readonly #users = new Map<Host, number>();

	constructor(
		limits: HostLimits,
		readOnly: boolean,
		environment: Environment = process.env,
		guard: HostWriteGuard | null = null,
	) {
		this.#guard = guard;
		this.#limits = limits;
		this.#readOnly = readOnly;
		this.#environment = environment;
	}

	/** Give it back once for each call. Throws as `addressOf`. */
	take(url: string): Host {
		let host = this.#byUrl.get(url);
		if (host === undefined) {
			const address = addressOf(url, this.#environment);
			host = new Host(address, this.#limits, this.#readOnly, this.#guard);
			this.#byUrl.set(url, host);
		}
		this.#users.set(host, (this.#users.get(host) ?? 0) + 1);
		return host;
	}

	/** What one version of a topology uses, given back together: even if `use` throws. */
	lease<T>(use: (lease: HostLease) => T): T {
		const lease = new HostLease(this);
		try {
			return use(lease);
		} catch (thrown) {
			void lease[Symbol.asyncDispose]();
			throw thrown;
		}
	}

	/** Closes the host after its last user. */
	async giveBack(host: Host): Promise<void> {
		const users = this.#users.get(host) ?? 0;
		if (users > 1) {
			this.#users.set(host, users - 1);
			return;
		}
		if (!this.#users.delete(host)) return;
		for (const [url, open] of this.#byUrl) {
			if (open === host) this.#byUrl.delete(url);
		}
		await host[Symbol.asyncDispose]();
	}
}

/** Each URL's host is taken once, and given back when this is disposed of. */
export class HostLease implements AsyncDisposable {
	readonly #hosts: SharedHosts;
	readonly #taken = new Map<string, Host>();

	constructor(hosts: SharedHosts) {
		this.#hosts = hosts;
	}

	/** Throws as `addressOf`. */
	at(url: string): Host {
		const host = this.#taken.get(url) ?? this.#hosts.take(url);
		this.#taken.set(url, host);
		return host;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		const taken = [...this.#taken.values()];
		this.#taken.clear();
		await Promise.all(taken.map((host) => this.#hosts.giveBack(host)));
	}
}
