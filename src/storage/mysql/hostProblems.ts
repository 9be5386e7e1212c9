import { deadlineIn } from "../../util/deadline.ts";
import { StorageFailure } from "../storageFailure.ts";
import type { Host } from "./driver/host.ts";

/** Time for one host to answer. Milliseconds. */
const LIMIT_MS = 5_000;

/** What keeps hosts from serving reads and writes, for an operator: a sentence for each. */
export async function hostProblems(
	hosts: readonly Host[],
): Promise<readonly string[]> {
	const problems = await Promise.all(
		hosts.map(async (host): Promise<string | null> => {
			try {
				const [row] = await host.rows(
					{ name: "read only", text: "SELECT @@GLOBAL.read_only", values: [] },
					{ shard: 0, deadline: deadlineIn(LIMIT_MS), isPatient: true },
				);
				return row?.[0] === "0"
					? null
					: `${host.name} is the primary of a range, but takes no writes: it is read-only.`;
			} catch (thrown) {
				if (!(thrown instanceof StorageFailure)) throw thrown;
				return `${host.name} cannot be used: ${thrown.message}`;
			}
		}),
	);
	return problems.filter((problem) => problem !== null);
}
