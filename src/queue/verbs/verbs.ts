import type { JobVerbs } from "../storedJobs.ts";
import { ackAndClaim } from "./ackAndClaim.ts";
import { enqueueJobs } from "./enqueue.ts";
import type { QueueCall } from "./queueCall.ts";
import { countQueue, findAll, scanQueue } from "./reads.ts";
import { changeJobs, expireClaims, renewAll } from "./upkeep.ts";

/** What every database does with jobs. */
export const VERBS: JobVerbs<QueueCall> = {
	enqueue: enqueueJobs,
	ackAndClaim,
	renew: renewAll,
	expire: expireClaims,
	find: findAll,
	scan: scanQueue,
	change: changeJobs,
	count: countQueue,
};
