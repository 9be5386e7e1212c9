/** A process that owns a folder of four shards and writes until it is killed: `writeFolder.ts FOLDER SEED [USER…]`. */
import type { Id } from "../../../src/id/ids.ts";
import { openSqliteStorage } from "../../../src/storage/sqlite/sqliteStorage.ts";
import { seededRandom } from "../../../src/util/random.ts";
import { MODEL, topologyOn } from "../../helpers/storageModel.ts";
import { create } from "../../helpers/storing.ts";
import { startWriting } from "./copying.ts";

const [folder = "", seed = "", ...given] = process.argv.slice(2);
const storage = await openSqliteStorage({
	model: MODEL,
	topology: topologyOn(`sqlite:${folder}`),
});
const users = [...given] as Id[];
for (const shard of users.length === 0 ? [0, 1, 2, 3] : []) {
	const zero = [{ name: 0 }, { name: 0 }];
	users.push(...(await create(storage, shard, "User", ...zero)));
	const pins = Array.from({ length: 1_500 }, () => ({ title: "Loaf" }));
	await create(storage, shard, "Pin", ...pins);
}
console.log(`users ${users.join(" ")}`);
const writing = startWriting(storage, users, seededRandom(Number(seed)));
setInterval(() => console.log(`writes ${writing.writes()}`), 50);
