import type { Corkboard } from "../../app/openCorkboard.ts";
import { readConfig } from "../../config.ts";
import {
	type Fields,
	updatedStoredJson,
} from "../../domain/resolvers/storedJson.ts";
import { MAX_ACCOUNT } from "../../domain/validators.ts";
import { CorkboardError } from "../../errors.ts";
import { isActive } from "../../graph/read/visibility.ts";
import { type Id, parseId } from "../../id/ids.ts";
import { type ParsedArguments, type Usage, UsageError } from "../arguments.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";

export const usage: Usage = {
	summary:
		"Links a user to an account of another service, closes it, opens it again.",
	operands: ["USER"],
	options: {
		link: {
			value: "ACCOUNT",
			description: "the subject of the tokens that make this user the viewer",
		},
		unlink: {
			description: "no token of another service is this user's any more",
		},
		close: {
			description:
				"as deactivateUser: invisible, with all that is theirs, and no viewer",
		},
		reopen: { description: "take that back" },
	},
	details:
		"USER is a username or an id, of a closed account too. An embedded folder has to be free: stop its server first.",
};

export async function run(
	given: ParsedArguments,
	io: CommandContext,
): Promise<number> {
	const [name = ""] = given.operands;
	const changes = changesOf(given);
	await using corkboard = await openForCommand(
		io,
		readConfig(io.env),
		"readWrite",
	);
	const user = await anyUser(corkboard, name);
	try {
		await corkboard
			.createContext(null)
			.writes()
			.modify(user, (data) =>
				updatedStoredJson(corkboard.model, "User", data, changes),
			);
	} catch (thrown) {
		if (thrown instanceof CorkboardError && thrown.code === "CONFLICT") {
			throw new CorkboardError(
				"CONFLICT",
				`expected an account that is nobody's but got: ${JSON.stringify(changes.account)}, which is linked to another user`,
				{ cause: thrown },
			);
		}
		throw thrown;
	}
	io.stdout(user);
	return 0;
}

function changesOf({ options }: ParsedArguments): Fields {
	const { link, unlink, close, reopen } = options;
	const both = (one: unknown, other: unknown) =>
		one !== undefined && other !== undefined;
	if (both(link, unlink) || both(close, reopen)) {
		throw new UsageError(
			"expected one of --link and --unlink, and one of --close and --reopen, but got both",
		);
	}
	if ([link, unlink, close, reopen].every((one) => one === undefined)) {
		throw new UsageError(
			"expected --link ACCOUNT, --unlink, --close or --reopen but got: none",
		);
	}
	if (link !== undefined && (link === "" || link.length > MAX_ACCOUNT)) {
		throw new UsageError(
			`expected an account of 1 to ${MAX_ACCOUNT} characters but got: ${link.length}`,
		);
	}
	return {
		...(link !== undefined && { account: link }),
		...(unlink !== undefined && { account: null }),
		...(close !== undefined && { deactivatedAt: new Date().toISOString() }),
		...(reopen !== undefined && { deactivatedAt: null }),
	};
}

/** Also one whose account is closed. Names go first: a username may be all digits. */
async function anyUser({ store }: Corkboard, nameOrId: string): Promise<Id> {
	const [row] = await store.readLookups([
		{ name: "username", key: nameOrId.toLowerCase() },
	]);
	if (row instanceof Error) throw row;
	const parsed = parseId(nameOrId);
	const id =
		row?.id ??
		(parsed === "malformed" || parsed === "reserved" ? null : parsed);
	const [node] = id === null ? [] : await store.readObjects([id]);
	if (node instanceof Error) throw node;
	if (node?.type !== "User" || !isActive(node)) {
		throw new CorkboardError(
			"NOT_FOUND",
			`expected the username or id of a user but got: ${JSON.stringify(nameOrId)}`,
		);
	}
	return node.id;
}
