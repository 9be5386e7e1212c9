import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TopologyStore } from "../../src/topology/store.ts";
import { until } from "../helpers/until.ts";

export interface TopologyStoreSuite {
	readonly title: string;
	/** Opens an empty place for texts; each call of it opens the same place again, as another process does. */
	place(): Promise<{ open(): Promise<TopologyStore> } & AsyncDisposable>;
}

/** What every topology store does. */
export function topologyStoreSuite({ title, place }: TopologyStoreSuite): void {
	describe(`${title}, as a topology store`, () => {
		test("reads what was written, and nothing where nothing was", async () => {
			await using at = await place();
			await using store = await at.open();
			await using other = await at.open();
			assert.equal(await store.get("topology"), null);
			assert.equal(await store.get("operations/a"), null);
			assert.deepEqual(await store.list("operations"), []);
			await store.write([{ path: "topology", revision: null, text: "one" }]);
			await store.write([
				{ path: "operations/a", revision: null, text: "été 😀" },
			]);
			assert.equal((await other.get("topology"))?.text, "one");
			assert.equal((await other.get("operations/a"))?.text, "été 😀");
			assert.equal(await other.get("operations"), null);
		});

		test("lists the names directly below a path, sorted", async () => {
			await using at = await place();
			await using store = await at.open();
			for (const path of ["history/2", "history/10", "history0", "asks/q/m"]) {
				await store.write([{ path, revision: null, text: "" }]);
			}
			assert.deepEqual(await store.list("history"), ["10", "2"]);
			assert.deepEqual(await store.list("asks"), ["q"]);
			assert.deepEqual(await store.list("asks/q"), ["m"]);
		});

		test("applies the changes of several paths together, or none of them", async () => {
			await using at = await place();
			await using store = await at.open();
			await store.write([
				{ path: "topology", revision: null, text: "1" },
				{ path: "history/1", revision: null, text: "1" },
			]);
			const topology = await store.get("topology");
			const changes = [
				{ path: "topology", revision: topology?.revision ?? "", text: "2" },
				{ path: "history/2", revision: null, text: "2" },
				// It is there.
				{ path: "history/1", revision: null, text: "other" },
			];
			await assert.rejects(store.write(changes), {
				code: "CONFLICT",
				details: { path: "history/1" },
			});
			assert.equal((await store.get("topology"))?.text, "1");
			assert.deepEqual(await store.list("history"), ["1"]);
			await store.write(changes.slice(0, 2));
			assert.equal((await store.get("topology"))?.text, "2");
			assert.deepEqual(await store.list("history"), ["1", "2"]);
		});

		test("refuses a change that expects another revision, a missing path, or one that is there", async () => {
			await using at = await place();
			await using store = await at.open();
			await store.write([{ path: "locks/h", revision: null, text: "a" }]);
			const first = (await store.get("locks/h"))?.revision ?? "";
			const refused = (revision: string | null, text: string | null) =>
				assert.rejects(store.write([{ path: "locks/h", revision, text }]), {
					code: "CONFLICT",
					details: { path: "locks/h" },
				});
			await refused(null, "b");
			await store.write([{ path: "locks/h", revision: first, text: "b" }]);
			await refused(first, "c");
			await refused(first, null);
			const second = (await store.get("locks/h"))?.revision ?? "";
			await store.write([{ path: "locks/h", revision: second, text: null }]);
			assert.equal(await store.get("locks/h"), null);
			await refused(second, "d");
			// A path that was deleted and created again is not what it was.
			await store.write([{ path: "locks/h", revision: null, text: "a" }]);
			await refused(first, "d");
			await refused(second, null);
			assert.equal((await store.get("locks/h"))?.text, "a");
		});

		test("lets exactly one of many writers win each revision", async () => {
			await using at = await place();
			const stores = await Promise.all([at.open(), at.open(), at.open()]);
			await stores[0]?.write([
				{ path: "operations/n", revision: null, text: "0" },
			]);
			await Promise.all(
				stores.map(async (store) => {
					for (let done = 0; done < 5; ) {
						const now = await store.get("operations/n");
						try {
							await store.write([
								{
									path: "operations/n",
									revision: now?.revision ?? "",
									text: String(Number(now?.text) + 1),
								},
							]);
							done++;
						} catch (error) {
							assert.equal((error as { code?: string }).code, "CONFLICT");
						}
					}
				}),
			);
			assert.equal((await stores[0]?.get("operations/n"))?.text, "15");
			for (const store of stores) await store[Symbol.asyncDispose]();
		});

		test("hints at changes of a path, and of what is below it, made by others", async () => {
			await using at = await place();
			await using store = await at.open();
			await using other = await at.open();
			let hints = 0;
			let below = 0;
			using _ = store.watch("topology", () => hints++);
			using __ = store.watch("asks", () => below++);
			await other.write([{ path: "topology", revision: null, text: "1" }]);
			await until("a hint", () => hints > 0);
			const before = below;
			await other.write([{ path: "asks/q", revision: null, text: "?" }]);
			await until("a hint below", () => below > before);
		});

		test("shows an announcement until its process closes the store", async () => {
			await using at = await place();
			await using store = await at.open();
			const other = await at.open();
			// Connected: before that, an announcement is made later.
			await other.get("members/m-1");
			const announced = other.announce("members/m-1");
			await announced.set("one");
			assert.deepEqual(await store.list("members"), ["m-1"]);
			assert.equal((await store.get("members/m-1"))?.text, "one");
			await announced.set("two");
			assert.equal((await store.get("members/m-1"))?.text, "two");
			await other[Symbol.asyncDispose]();
			assert.deepEqual(await store.list("members"), []);
			assert.equal(await store.get("members/m-1"), null);
			const again = store.announce("members/m-2");
			await again.set("x");
			await again[Symbol.asyncDispose]();
			assert.deepEqual(await store.list("members"), []);
		});

		test("takes only names that are safe in every store as paths", async () => {
			await using at = await place();
			await using store = await at.open();
			for (const path of [
				"",
				"/a",
				"a/",
				"a//b",
				"../a",
				"a/./b",
				"a b",
				"é",
			]) {
				await assert.rejects(store.get(path), TypeError, path);
			}
		});
	});
}
