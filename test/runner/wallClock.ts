/**
 * Files whose tests hold real time against a limit, with what that is: a busy
 * machine fails them though nothing is wrong. They run last, one at a time. A test
 * of anything else takes its clock and its limits as options.
 */
export const WALL_CLOCK: Readonly<Record<string, string>> = {
	"test/cache/redisTokenBuckets.test.ts": "tokens that come back by the second",
	"test/cache/undeliveredInvalidations.test.ts":
		"readers that trust a proof for less than a second",
	"test/clients/limits.test.ts": "the second that Retry-After names",
	"test/fleet/frozen.test.ts": "leases that outlive a process at SIGSTOP",
	"test/freshness/channelsOfSeveralRedis.test.ts":
		"channels that are bypassed a second after their last proof",
	"test/queue/queueLimits.test.ts":
		"jobs a second, by the clocks of several processes",
	"test/server/overload.test.ts":
		"what a process carries a second, and some seconds after a spike",
	"test/storage/mysql/driver/host.test.ts":
		"deadlines of connections and statements on a real server",
	"test/storage/promotion.test.ts": "writes that wait while a primary changes",
	"test/storage/standbyReads.test.ts":
		"hedges some milliseconds after a read on a real pair",
};
