import type { WantedJob, WriteEvents } from "../graph/store/jobQueue.ts";
import type { FeedModel } from "./feedModel.ts";
import {
	ITEM_QUEUE,
	JOB_ATTEMPTS,
	USER_QUEUE,
	type UserBody,
} from "./jobBodies.ts";

/**
 * What the home feed does after writes of requests: a new item goes to the followers
 * of what it belongs to, a user who follows gets the newest items, a like or a copy
 * brings related ones. Each is a job of the write's outbox entry, so that it
 * is done if and only if the write was committed.
 */
export function feedEvents(model: FeedModel): WriteEvents {
	const follows = new Set(model.followed.map(({ follow }) => follow.name));
	const liked = model.related?.liked?.name;
	return {
		ofType: (type) => type === model.item,
		created(_, id, data) {
			const pushed: WantedJob = {
				queue: ITEM_QUEUE,
				body: JSON.stringify({ item: id }),
				allowed: JOB_ATTEMPTS,
			};
			const [origin, owner] = [model.originOf(data), model.ownerOf(data)];
			return model.related !== null && origin !== null && owner !== null
				? [pushed, userJob({ do: "related", user: owner, item: origin })]
				: [pushed];
		},
		ofMapping: (mapping) => mapping === liked || follows.has(mapping),
		edgesChanged(mapping, from, changes) {
			return changes.flatMap(({ to, isPresent }) => {
				if (mapping !== liked) {
					return userJob({
						do: isPresent ? "follow" : "unfollow",
						user: from,
						via: to,
					});
				}
				return isPresent
					? userJob({ do: "related", user: from, item: to })
					: [];
			});
		},
	};
}

function userJob(body: UserBody): WantedJob {
	return {
		queue: USER_QUEUE,
		body: JSON.stringify(body),
		// A user who unfollows expects the items gone; related ones can wait.
		priority: body.do === "unfollow" ? 1 : body.do === "related" ? 3 : 2,
		allowed: JOB_ATTEMPTS,
	};
}
