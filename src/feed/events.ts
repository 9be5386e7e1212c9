import type { WantedJob, WriteEvents } from "../graph/store/jobQueue.ts";
import type { Id } from "../id/ids.ts";
import {
	JOB_ATTEMPTS,
	PIN_QUEUE,
	USER_QUEUE,
	type UserBody,
} from "./jobBodies.ts";

/** Mappings from a user to whom or what it follows. */
const FOLLOWS: ReadonlySet<string> = new Set([
	"followUser",
	"followBoard",
	"followInterest",
]);
const LIKES = "likePin";

/**
 * What the home feed does after writes of requests: a new pin goes to the followers
 * of its owner and board, whoever follows gets the newest pins, a like or repin
 * brings related ones. Each is a job of the write's outbox entry, so that it
 * is done if and only if the write was committed.
 */
export const feedEvents: WriteEvents = {
	ofType: (type) => type === "Pin",
	created(_, id, { origin_id: origin, user_id: owner }) {
		const pushed: WantedJob = {
			queue: PIN_QUEUE,
			body: JSON.stringify({ pin: id }),
			allowed: JOB_ATTEMPTS,
		};
		return typeof origin === "string" && typeof owner === "string"
			? [
					pushed,
					userJob({ do: "related", user: owner as Id, pin: origin as Id }),
				]
			: [pushed];
	},
	ofMapping: (mapping) => mapping === LIKES || FOLLOWS.has(mapping),
	edgesChanged(mapping, from, changes) {
		return changes.flatMap(({ to, isPresent }) => {
			if (mapping !== LIKES) {
				return userJob({
					do: isPresent ? "follow" : "unfollow",
					user: from,
					via: to,
				});
			}
			return isPresent ? userJob({ do: "related", user: from, pin: to }) : [];
		});
	},
};

function userJob(body: UserBody): WantedJob {
	return {
		queue: USER_QUEUE,
		body: JSON.stringify(body),
		// Who unfollows expects the pins gone; related ones can wait.
		priority: body.do === "unfollow" ? 1 : body.do === "related" ? 3 : 2,
		allowed: JOB_ATTEMPTS,
	};
}
