import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import pins from "../../../pins/app.ts";
import { jobKindsOf } from "../../../src/app/jobKinds.ts";
import { openCorkboard } from "../../../src/app/openCorkboard.ts";
import { readConfig } from "../../../src/config/config.ts";
import { feedUser } from "../../../src/feed/jobs/feedUser.ts";
import { packId } from "../../../src/id/ids.ts";
import { archive } from "../../../src/ops/jobs/archive.ts";
import { eraseJobs } from "../../../src/ops/personal/eraseJobs.ts";
import { job } from "../../../src/queue/job.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";

const mail = job({
	queue: "mail",
	body: z.object({ to: z.string(), about: z.string() }),
	version: 2,
	subject: ({ to }) => to,
	run: async () => {},
});
const user = (local: number) => packId({ shard: 0, type: 1, local });
const [ada, ben] = [user(1), user(2)];

describe("the jobs of a user who is erased", () => {
	it("are those whose kind says so, and not what only names the user", async () => {
		using folder = temporaryFolder();
		const app = { ...pins, jobs: [mail] };
		await using corkboard = await openCorkboard(
			app,
			readConfig({ CORKBOARD_DATA: folder.path }),
		);
		const { queues } = corkboard;
		assert.ok(queues);
		const { jobs, store } = queues;
		await jobs.enqueue(mail, { to: ada, about: "running" });
		const signal = AbortSignal.timeout(600_000);
		for await (const batch of queues.claims("mail", { limit: 1, signal })) {
			assert.equal(batch.jobs.length, 1);
			break;
		}
		await jobs.enqueue(mail, { to: ada, about: ben });
		await jobs.enqueue(mail, { to: ben, about: ada });
		await jobs.enqueue(mail, { to: ben, about: ben });
		await jobs.enqueue(feedUser, { do: "take", user: ada });
		await jobs.enqueue(feedUser, { do: "follow", user: ben, via: ada });
		await jobs.enqueue(archive, { ids: [ada, ben] });
		const kinds = jobKindsOf(app, null);
		const expected = {
			deleted: 2,
			staying: [
				{ queue: "archive", jobs: 1 },
				{ queue: "feedUser", jobs: 1 },
				{ queue: "mail", jobs: 2 },
			],
		};
		const erase = (isDryRun: boolean) =>
			eraseJobs(store, kinds, ada, { isDryRun });
		assert.deepEqual(await erase(true), expected);
		assert.deepEqual(await erase(true), expected, "a dry run changes nothing");
		assert.deepEqual(await erase(false), expected);
		assert.deepEqual(await erase(false), { ...expected, deleted: 0 });
	});
});
