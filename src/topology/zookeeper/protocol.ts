import { JuteReader, JuteWriter } from "./jute.ts";

/** The requests of ZooKeeper's protocol that a topology store needs (org.apache.zookeeper.ZooDefs). */
export const OP = {
	create: 1,
	delete: 2,
	exists: 3,
	getData: 4,
	setData: 5,
	sync: 9,
	ping: 11,
	getChildren: 8,
	multi: 14,
	error: -1,
	auth: 100,
	addWatch: 106,
	closeSession: -11,
} as const;

/** Answers to these numbers belong to no request. */
export const XID = { watchEvent: -1, ping: -2, auth: -4 } as const;

/** org.apache.zookeeper.KeeperException.Code */
export const CODE = {
	ok: 0,
	connectionLoss: -4,
	noNode: -101,
	noAuth: -102,
	badVersion: -103,
	nodeExists: -110,
	notEmpty: -111,
	sessionExpired: -112,
	authFailed: -115,
} as const;

const EPHEMERAL = 1;
const PERSISTENT_RECURSIVE = 1;
const ALL_PERMISSIONS = 31;

interface NodeStat {
	/** Transaction of the last change of the text; unique in the whole server, even after another creation. */
	readonly mzxid: bigint;
	/** Number of changes of the text since it was created. */
	readonly version: number;
	/** Session that an ephemeral node belongs to; 0 for another. */
	readonly ephemeralOwner: bigint;
}

/** One of several changes that are applied together. */
export type MultiChange =
	| { readonly kind: "create"; readonly path: string; readonly data: Buffer }
	| {
			readonly kind: "set";
			readonly path: string;
			readonly data: Buffer;
			readonly version: number;
	  }
	| {
			readonly kind: "delete";
			readonly path: string;
			readonly version: number;
	  };

/** What is written into a request, after its number and kind. */
export type Body = (writer: JuteWriter) => void;

export function request(xid: number, op: number, body?: Body): Buffer {
	const writer = new JuteWriter().int(xid).int(op);
	body?.(writer);
	return writer.frame();
}

export function connectRequest(session: {
	readonly lastZxid: bigint;
	readonly timeoutMs: number;
	readonly id: bigint;
	readonly password: Buffer;
}): Buffer {
	return new JuteWriter()
		.int(0)
		.long(session.lastZxid)
		.int(session.timeoutMs)
		.long(session.id)
		.buffer(session.password)
		.boolean(false)
		.frame();
}

/** A timeout of 0 means that the session has expired. */
export function readConnectResponse(frame: Buffer): {
	readonly timeoutMs: number;
	readonly id: bigint;
	readonly password: Buffer;
} {
	const reader = new JuteReader(frame);
	reader.int();
	const timeoutMs = reader.int();
	const id = reader.long();
	return { timeoutMs, id, password: Buffer.from(reader.buffer()) };
}

export function digestAuth(userAndPassword: string): Body {
	return (writer) => void writer.int(0).text("digest").text(userAndPassword);
}

/** `ours`: only who is authenticated as this connection may use the node. */
export function createBody(
	path: string,
	data: Buffer,
	{ ephemeral, ours }: { readonly ephemeral: boolean; readonly ours: boolean },
): Body {
	return (writer) => {
		writer.text(path).buffer(data).int(1).int(ALL_PERMISSIONS);
		if (ours) writer.text("auth").text("");
		else writer.text("world").text("anyone");
		writer.int(ephemeral ? EPHEMERAL : 0);
	};
}

export function setBody(path: string, data: Buffer, version: number): Body {
	return (writer) => void writer.text(path).buffer(data).int(version);
}

export function deleteBody(path: string, version: number): Body {
	return (writer) => void writer.text(path).int(version);
}

/** Reads without a watch of their own: `addWatchBody` watches. */
export function readBody(path: string): Body {
	return (writer) => void writer.text(path).boolean(false);
}

export function pathBody(path: string): Body {
	return (writer) => void writer.text(path);
}

/** Reports every later change of the node and of all below it, until the connection ends. */
export function addWatchBody(path: string): Body {
	return (writer) => void writer.text(path).int(PERSISTENT_RECURSIVE);
}

export function multiBody(
	changes: readonly MultiChange[],
	ours: boolean,
): Body {
	return (writer) => {
		for (const change of changes) {
			const [op, body] =
				change.kind === "create"
					? [
							OP.create,
							createBody(change.path, change.data, { ephemeral: false, ours }),
						]
					: change.kind === "set"
						? [OP.setData, setBody(change.path, change.data, change.version)]
						: [OP.delete, deleteBody(change.path, change.version)];
			writer.int(op).boolean(false).int(-1);
			body(writer);
		}
		writer.int(-1).boolean(true).int(-1);
	};
}

/** The code of the change that failed, with its place; null if all were applied. */
export function readMulti(
	reader: JuteReader,
): { readonly at: number; readonly code: number } | null {
	for (let at = 0; ; at++) {
		const op = reader.int();
		const isDone = reader.boolean();
		const header = reader.int();
		if (isDone) return null;
		if (op === OP.error) {
			const code = reader.int() || header;
			// Those before it were rolled back, and say 0; those after it were not tried.
			if (code !== 0) return { at, code };
		} else if (op === OP.create) reader.text();
		else if (op === OP.setData) readStat(reader);
	}
}

export function readStat(reader: JuteReader): NodeStat {
	reader.long();
	const mzxid = reader.long();
	reader.long();
	reader.long();
	const version = reader.int();
	reader.int();
	reader.int();
	const ephemeralOwner = reader.long();
	reader.int();
	reader.int();
	reader.long();
	return { mzxid, version, ephemeralOwner };
}
