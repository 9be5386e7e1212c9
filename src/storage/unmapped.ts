import { CorkboardError } from "../errors.ts";

export function unknownShard(what: string, shard: number): CorkboardError {
	return new CorkboardError(
		"NOT_FOUND",
		`There is no ${what} ${shard}: no range of the topology covers it.`,
	);
}
