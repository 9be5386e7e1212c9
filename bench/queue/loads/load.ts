import type { AgentProcess } from "../agentProcess.ts";
import type { Cell } from "../cell.ts";
import type { Options } from "../options.ts";
import type { Servers } from "../servers.ts";
import type { SystemName } from "../systems.ts";

type Role = "worker" | "producer";

export interface LoadContext {
	readonly system: SystemName;
	readonly servers: Servers;
	readonly options: Options;
	readonly signal: AbortSignal;
	/** Starts processes of the system. They are ended after the measurement. */
	agents<Roles extends readonly Role[]>(
		...roles: Roles
	): Promise<{ readonly [N in keyof Roles]: AgentProcess }>;
	say(text: string): void;
}

export interface Load {
	readonly title: string;
	/** Whom it is measured with, of those that are chosen. */
	readonly systems: readonly SystemName[];
	/** Measured one after another in each round. */
	readonly variants: readonly string[];
	/** Whether it is measured once, whatever the rounds are. */
	readonly once?: boolean;
	/** Seconds that a measurement of one system takes, about. */
	run(context: LoadContext, variant: string): Promise<Cell["values"]>;
}
