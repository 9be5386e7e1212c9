import { CorkboardError } from "../../errors.ts";
import type {
	Announcement,
	StoreChange,
	StoredText,
	TopologyStore,
} from "../store.ts";
import { checkPath, conflictAt } from "../store.ts";
import { NodeAnnouncement } from "./nodeAnnouncement.ts";
import {
	addWatchBody,
	CODE,
	createBody,
	deleteBody,
	type MultiChange,
	multiBody,
	OP,
	pathBody,
	readBody,
	readMulti,
	readStat,
	setBody,
} from "./protocol.ts";
import { ZookeeperError, ZookeeperSession } from "./session.ts";

interface ZookeeperStoreOptions {
	/** As operators call it. */
	readonly name: string;
	/** `host:port` of each server. */
	readonly servers: readonly string[];
	/** The node below which everything is: `/corkboard`. */
	readonly root: string;
	/** `user:password`; null: none. */
	readonly auth?: string | null;
	/** How long a process that ended without a word is still listed. Milliseconds. */
	readonly sessionMs?: number;
	/** How long a call waits for a connection. Milliseconds. */
	readonly waitMs?: number;
}

/** A text, and what a change of it has to expect. */
interface Node extends StoredText {
	readonly version: number;
	/** Whether it has no text, and is there only because of what is below it. */
	readonly isFolder: boolean;
}

const SESSION_MS = 8_000;
const WAIT_MS = 5_000;
/** The limit of one call, over all its tries. */
const CALL_MS = 10_000;
/** The text of a node that is there because of others below it. */
const FOLDER = Buffer.of(0);
const ANY_VERSION = -1;

/**
 * A topology store in ZooKeeper 3.6 or later. Each write is one `multi`, which also
 * raises the version of the root: so a write that was compared with what has
 * changed since fails, even if a node was deleted and made again in between.
 * Reads go through `sync` first, because a follower may lag.
 */
export function openZookeeperStore(
	options: ZookeeperStoreOptions,
): TopologyStore {
	return new ZookeeperStore(options);
}

class ZookeeperStore implements TopologyStore {
	readonly name: string;
	readonly hasMembers = true;
	readonly #root: string;
	readonly #isOurs: boolean;
	readonly #waitMs: number;
	readonly #session: ZookeeperSession;
	readonly #watches = new Set<{ path: string; hint: () => void }>();
	readonly #announcements = new Set<NodeAnnouncement>();

	constructor({
		name,
		servers,
		root,
		auth = null,
		sessionMs = SESSION_MS,
		waitMs = WAIT_MS,
	}: ZookeeperStoreOptions) {
		this.name = name;
		this.#root = root;
		this.#isOurs = auth !== null;
		this.#waitMs = waitMs;
		this.#session = new ZookeeperSession({
			servers,
			auth,
			timeoutMs: sessionMs,
			onConnected: () => this.#restore(),
			onChange: (changed) => {
				for (const { path, hint } of this.#watches) {
					const watched = this.#at(path);
					if (changed === watched || changed.startsWith(`${watched}/`)) hint();
				}
			},
		});
	}

	async get(path: string): Promise<StoredText | null> {
		checkPath(path);
		const node = await this.#retrying(async () => {
			const [, read] = await Promise.all([
				this.#sync(path),
				this.#readNode(this.#at(path)),
			]);
			return read;
		});
		if (node === null || node.isFolder) return null;
		return { text: node.text, revision: node.revision };
	}

	async list(path: string): Promise<readonly string[]> {
		checkPath(path);
		return this.#retrying(async () => {
			const [, names] = await Promise.all([
				this.#sync(path),
				this.#children(this.#at(path)),
			]);
			return names.toSorted();
		});
	}

	async write(changes: readonly StoreChange[]): Promise<void> {
		for (const { path } of changes) checkPath(path);
		// Ends by success or by a conflict: a guard that moved means that another writer succeeded.
		for (;;) {
			const { guard, nodes } = await this.#retrying(() =>
				this.#prepare(changes),
			);
			const multi: MultiChange[] = [
				{ kind: "set", path: this.#root, data: FOLDER, version: guard },
			];
			for (const [index, { path, revision, text }] of changes.entries()) {
				const node = nodes[index] ?? null;
				const now = node === null || node.isFolder ? null : node.revision;
				if (now !== revision) throw conflictAt(path);
				multi.push(...(await this.#change(this.#at(path), node, text)));
			}
			if ((await this.#apply(multi, changes)) === "applied") return;
		}
	}

	watch(path: string, hint: () => void): Disposable {
		checkPath(path);
		const watch = { path, hint };
		this.#watches.add(watch);
		if (this.#session.isConnected) this.#arm(watch);
		return { [Symbol.dispose]: () => void this.#watches.delete(watch) };
	}

	announce(path: string): Announcement {
		checkPath(path);
		const announcement = new NodeAnnouncement(
			(text, isNew) => this.#put(path, text, isNew),
			async () => {
				this.#announcements.delete(announcement);
				if (!this.#session.isConnected) return;
				await this.#session
					.send(OP.delete, deleteBody(this.#at(path), ANY_VERSION))
					.catch(() => {});
			},
		);
		this.#announcements.add(announcement);
		return announcement;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#watches.clear();
		await this.#session[Symbol.asyncDispose]();
	}

	#at(path: string): string {
		return `${this.#root}/${path}`;
	}

	/** After each connection: what was announced and watched, before anything else is sent. */
	#restore(): void {
		for (const announcement of this.#announcements) announcement.restore();
		for (const watch of this.#watches) this.#arm(watch);
	}

	#arm({ path, hint }: { readonly path: string; hint: () => void }): void {
		this.#session
			.send(OP.addWatch, addWatchBody(this.#at(path)))
			// What changed before it was armed is read now; a lost connection arms it again.
			.then(hint, () => {});
	}

	/** The version of the root, then each path: what changes after the first read moves the guard. */
	async #prepare(changes: readonly StoreChange[]): Promise<{
		readonly guard: number;
		readonly nodes: readonly (Node | null)[];
	}> {
		for (const { path } of changes) this.#makeParents(path);
		const [, root, ...nodes] = await Promise.all([
			this.#sync(""),
			this.#readNode(this.#root),
			...changes.map(({ path }) => this.#readNode(this.#at(path))),
		]);
		if (root === null) throw new Error("the root was removed");
		return { guard: root.version, nodes };
	}

	async #change(
		path: string,
		node: Node | null,
		text: string | null,
	): Promise<readonly MultiChange[]> {
		if (text !== null) {
			const data = Buffer.from(text);
			return node === null
				? [{ kind: "create", path, data }]
				: [{ kind: "set", path, data, version: node.version }];
		}
		if (node === null) return [];
		const { version } = node;
		const hasChildren = (await this.#retrying(() => this.#children(path)))
			.length;
		return hasChildren > 0
			? [{ kind: "set", path, data: FOLDER, version }]
			: [{ kind: "delete", path, version }];
	}

	async #apply(
		multi: readonly MultiChange[],
		changes: readonly StoreChange[],
	): Promise<"applied" | "again"> {
		let failed: { readonly at: number; readonly code: number } | null;
		try {
			const answer = await this.#session.send(
				OP.multi,
				multiBody(multi, this.#isOurs),
			);
			failed = readMulti(answer);
		} catch (error) {
			if (!(error instanceof ZookeeperError)) throw error;
			if (error.code === CODE.connectionLoss) {
				throw this.#unavailable(error, error.wasSent);
			}
			failed = { at: 0, code: error.code };
		}
		if (failed === null) return "applied";
		const isMoved =
			failed.code === CODE.badVersion ||
			failed.code === CODE.noNode ||
			failed.code === CODE.nodeExists ||
			failed.code === CODE.notEmpty;
		if (isMoved) return "again";
		const path = changes[failed.at - 1]?.path ?? "";
		throw this.#unavailable(
			new ZookeeperError(failed.code, `code ${failed.code} at ${path}`, true),
			false,
		);
	}

	/** Sends what makes the nodes above a path. The answers do not matter: most say that they are there. */
	#makeParents(path: string): void {
		const parts = this.#at(path).split("/").slice(1, -1);
		parts.forEach((_, index) => {
			const parent = `/${parts.slice(0, index + 1).join("/")}`;
			const body = createBody(parent, FOLDER, {
				ephemeral: false,
				ours: this.#isOurs && parent.startsWith(this.#root),
			});
			this.#session.send(OP.create, body).catch(() => {});
		});
	}

	async #put(path: string, text: string, isNew: boolean): Promise<void> {
		const at = this.#at(path);
		const data = Buffer.from(text);
		const create = () =>
			this.#session.send(
				OP.create,
				createBody(at, data, { ephemeral: true, ours: this.#isOurs }),
			);
		try {
			if (!isNew) {
				const set = setBody(at, data, ANY_VERSION);
				await this.#session.send(OP.setData, set);
				return;
			}
		} catch (error) {
			if (codeOf(error) !== CODE.noNode) throw this.#unavailable(error, false);
		}
		try {
			this.#makeParents(path);
			await create().catch(async (error) => {
				if (codeOf(error) !== CODE.nodeExists) throw error;
				// The node of a former session of ours, which will end and take it along.
				await this.#session.send(OP.delete, deleteBody(at, ANY_VERSION));
				await create();
			});
		} catch (error) {
			throw this.#unavailable(error, false);
		}
	}

	async #sync(path: string): Promise<void> {
		const at = path === "" ? this.#root : this.#at(path);
		await this.#session.send(OP.sync, pathBody(at));
	}

	async #readNode(at: string): Promise<Node | null> {
		try {
			const answer = await this.#session.send(OP.getData, readBody(at));
			const data = answer.buffer();
			const { mzxid, version } = readStat(answer);
			return {
				text: data.toString("utf8"),
				revision: String(mzxid),
				version,
				isFolder: data.equals(FOLDER),
			};
		} catch (error) {
			if (codeOf(error) === CODE.noNode) return null;
			throw error;
		}
	}

	async #children(at: string): Promise<string[]> {
		try {
			const answer = await this.#session.send(OP.getChildren, readBody(at));
			const count = answer.int();
			return Array.from({ length: Math.max(0, count) }, () => answer.text());
		} catch (error) {
			if (codeOf(error) === CODE.noNode) return [];
			throw error;
		}
	}

	/** For what changes nothing: again on the next connection. */
	async #retrying<T>(body: () => Promise<T>): Promise<T> {
		const until = performance.now() + CALL_MS;
		for (;;) {
			await this.#session.connected(this.#waitMs);
			try {
				return await body();
			} catch (error) {
				const isLost = codeOf(error) === CODE.connectionLoss;
				const wasConnected = error instanceof ZookeeperError && error.wasSent;
				if (!isLost || !wasConnected || performance.now() > until) {
					throw this.#unavailable(error, false);
				}
			}
		}
	}

	#unavailable(error: unknown, isUnknown: boolean): unknown {
		if (!(error instanceof ZookeeperError)) return error;
		const reason =
			error.code === CODE.noAuth
				? "it belongs to another user: see CORKBOARD_TOPOLOGY_AUTH_FILE"
				: error.message;
		return new CorkboardError(
			"UNAVAILABLE",
			`The topology store ${this.name} does not answer: ${reason}`,
			{ cause: error, details: { isUnknown } },
		);
	}
}

function codeOf(error: unknown): number | null {
	return error instanceof ZookeeperError ? error.code : null;
}
