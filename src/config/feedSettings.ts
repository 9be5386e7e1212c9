import { derived, fixed, optional } from "./declare.ts";
import { integer, list, oneOf, onOff, path } from "./kinds.ts";

/** Jobs, and the home feeds that most of them are for. */
export const JOBS = {
	CORKBOARD_RANKER: optional(
		path,
		"a file that ranks items for home feeds ([home feed](../feed.md#a-ranker-of-your-own))",
		"the built-in ranking",
	),
	CORKBOARD_FEED_FRESHEN: fixed(
		oneOf("query", "mutation"),
		"query",
		"`query`: reading a home feed from its start adds the items that wait; `mutation`: only the mutation for that does",
	),
	CORKBOARD_WORKER: derived(
		onOff,
		"`on`: `serve` runs jobs too; `off`: only processes of `corkboard worker` do ([jobs](../how-to/jobs.md#write-a-job-of-your-own))",
		"on embedded, off with a topology",
	),
	CORKBOARD_WORKER_CONCURRENCY: fixed(
		integer(1, 1_000),
		10,
		"jobs that one process runs at the same time, from 1 to 1000",
	),
	CORKBOARD_WORKER_QUEUES: optional(
		list("names of queues, separated by commas"),
		"names of the queues whose jobs a process runs, separated by commas",
		"all",
	),
	CORKBOARD_FEED: derived(
		onOff,
		"`off`: home feeds stay as they are, and get no items. Set it alike in all processes",
		"on embedded; with a topology on if it has `pools`",
	),
	CORKBOARD_FEED_UNFOLLOW: fixed(
		oneOf("remove", "keep"),
		"remove",
		"what unfollowing does to a home feed. `remove`: all items of the unfollowed leave it; `keep`: only items that still wait for it do",
	),
	CORKBOARD_FEED_PUSH_LIMIT: fixed(
		integer(0, 10_000_000),
		5_000,
		"those with more followers than this do not push their items; visits read them. 0 to 10000000",
	),
} as const;
