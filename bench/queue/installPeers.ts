import { join } from "node:path";
import { installPackages } from "../servers/peers.ts";

/** Packages are installed on the first use. */
export function installPeers(
	say: (text: string) => void,
	signal: AbortSignal,
): Promise<void> {
	return installPackages(join(import.meta.dirname, "peers"), {
		packages: ["graphile-worker", "pg-boss", "bullmq"],
		without: "--systems corkboard,pinlater-2015,seed-2020",
		say,
		signal,
	});
}
