/**
 * A process that moves databases with a ferry until it has compared all rows, again
 * and again. Arguments: the URLs of source and target, the name of the ferry, rows
 * a second, the databases.
 */
import { Ferry } from "../../../src/fleet/ferry/ferry.ts";
import { FleetServer } from "../../../src/fleet/server/fleetServer.ts";
import { Pace } from "../../../src/util/pace.ts";

const [from = "", to = "", name = "", rate, ...databases] =
	process.argv.slice(2);

await using source = new FleetServer(from, {});
await using target = new FleetServer(to, {});
await using ferry = await Ferry.open({
	name,
	source,
	replica: null,
	target,
	targetReplica: null,
	databases: databases.map((database) => ({
		source: database,
		target: database,
	})),
	from: null,
	pace: new Pace({
		rowsPerSecond: Number(rate),
		bytesPerSecond: null,
		maxLagSeconds: 2,
	}),
	parallel: 2,
	signal: new AbortController().signal,
});
console.log("opened");
await ferry.prepare();
await ferry.copy();
console.log("copied");
await ferry.follow();
for (;;) {
	const differences = await ferry.verify();
	console.log(`compared, ${differences.length} differences`);
}
