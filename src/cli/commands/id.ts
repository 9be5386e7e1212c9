import { loadOwnModel } from "../../app/model.ts";
import { readConfiguredTopology } from "../../app/openTopology.ts";
import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import { parseId, unpackId } from "../../id/ids.ts";
import { hostOf } from "../../topology/ranges.ts";
import { columns, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";

export const usage: Usage = {
	summary: "Prints the type, shard, table and host of an id.",
	operands: ["ID"],
	options: {},
};

export async function run(
	given: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const [text = ""] = given.operands;
	const id = parseId(text);
	if (id === "malformed") {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`ID must be a decimal number of at most 64 bits without leading zeros, got ${JSON.stringify(text)}.`,
		);
	}
	if (id === "reserved") {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`${text} is not an id: its two top bits must be zero.`,
		);
	}
	const { shard, type, local } = unpackId(id);
	const { model } = loadOwnModel();
	const object = model.objectsByNumber.get(type);
	const topology = readConfiguredTopology(
		readConfig(context.env, { secret: "unneeded" }),
	);
	const host = hostOf(topology, shard);
	const database = `db${String(shard).padStart(5, "0")}`;
	const rows: (readonly [string, string])[] = [
		["id", id],
		["shard", String(shard)],
		["type", `${type} (${object?.name ?? "not a type of the schema"})`],
		["local id", String(local)],
		["table", object ? `${database}.${object.table}` : "none"],
		["host", host ?? `none: no range of the topology covers shard ${shard}`],
	];
	context.stdout(
		columns(rows)
			.map((line) => line.trimStart())
			.join("\n"),
	);
	return 0;
}
