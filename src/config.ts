import { CorkboardError } from "./errors.ts";
import { type Id, parseId } from "./id/ids.ts";
import { readSettings, type Settings } from "./util/environment.ts";
import {
	LOG_FORMATS,
	LOG_LEVELS,
	type LogFormat,
	type LogLevel,
	parseLogSettings,
} from "./util/logSettings.ts";
import {
	parseHeaderName,
	parseHosts,
	parseInteger,
	parseJwksUrl,
	parseList,
	parseOneOf,
	parseOnOff,
	parseOrigins,
	parseProxies,
	parseRate,
	parseRedisUrl,
} from "./util/settings.ts";

/** What the environment asks for, checked (CONTRACT: "Settings"). Read once, by the entry points only. */
export interface Config {
	readonly host: string;
	/** 0 is any free port. */
	readonly port: number;
	readonly mode: "development" | "production";
	readonly store: Store;
	/** `host:port` of each memcached; none: objects are cached in no shared layer. */
	readonly memcached: readonly string[];
	/** `redis://…`; null: heads of lists are cached in no shared layer, and processes do not hear of each other's writes. */
	readonly redis: string | null;
	/** The HS256 secret; null when it is the embedded folder's own: `embeddedSecret`. */
	readonly secret: Uint8Array | null;
	readonly identity: IdentityConfig;
	readonly graphiql: "everyone" | "operators" | "nobody";
	readonly maxCost: number;
	/** Edges and objects that one viewer or address may read in so many milliseconds; null for any number. */
	readonly budgetLimit: {
		readonly points: number;
		readonly perMs: number;
	} | null;
	/** Origins whose pages may ask, besides localhost's in development. */
	readonly cors: readonly string[];
	readonly log: { readonly level: LogLevel; readonly format: LogFormat };
	/** Whose X-Forwarded-* headers are believed: of whoever connects, nobody's, or those of these addresses and networks. */
	readonly trustProxy: boolean | string;
	readonly persistedDocuments: {
		readonly mode: "off" | "report" | "strict";
		/** None where it is off, at least one otherwise. */
		readonly files: readonly string[];
	};
	readonly http: HttpConfig;
}

/** Which tokens are believed. */
export interface IdentityConfig {
	/** Where the public keys of whoever signs them are; null: we sign them, with the secret. */
	readonly jwks: string | null;
	readonly claims: {
		readonly issuer: string | null;
		readonly audience: string | null;
		/** The claim that names the user. */
		readonly subject: string;
	};
	/** Who runs the fleet, by id or by what their tokens claim. */
	readonly operators: {
		readonly ids: ReadonlySet<Id>;
		readonly claims: readonly {
			readonly name: string;
			readonly value: string;
		}[];
	};
}

/** How answers go out, and what is asked of requests before they are looked at. */
export interface HttpConfig {
	/** Which reading of GraphQL over HTTP the status codes follow. */
	readonly status: "audit" | "draft";
	/** How long (s) others may keep the answer to a GET that holds nothing of a viewer's. */
	readonly maxAge: number;
	readonly compression: boolean;
	/** Of one address; null for none. */
	readonly rateLimit: {
		readonly requests: number;
		readonly perMs: number;
	} | null;
	/** The header, in lower case, in which a proxy says what it calls a request. */
	readonly requestIdHeader: string | null;
}

export type Store =
	| {
			readonly kind: "embedded";
			readonly folder: string;
			/** Whether an empty folder gets the demo graph. */
			readonly demo: boolean;
	  }
	| { readonly kind: "topology"; readonly file: string };

/** HS256 asks for a key as long as its hash (RFC 7518, 3.2). */
export const SECRET_BYTES = 32;

const SETTINGS = [
	"CORKBOARD_MODE",
	"CORKBOARD_TOPOLOGY",
	"CORKBOARD_DATA",
	"CORKBOARD_DEMO",
	"CORKBOARD_MEMCACHED",
	"CORKBOARD_REDIS",
	"CORKBOARD_SECRET",
	"CORKBOARD_JWKS",
	"CORKBOARD_ISSUER",
	"CORKBOARD_AUDIENCE",
	"CORKBOARD_SUBJECT_CLAIM",
	"CORKBOARD_OPERATORS",
	"CORKBOARD_GRAPHIQL",
	"CORKBOARD_MAX_COST",
	"CORKBOARD_BUDGET",
	"CORKBOARD_CORS",
	"CORKBOARD_LOG",
	"CORKBOARD_TRUST_PROXY",
	"CORKBOARD_DOCUMENTS",
	"CORKBOARD_DOCUMENT_FILES",
	"CORKBOARD_HTTP_STATUS",
	"CORKBOARD_HTTP_MAX_AGE",
	"CORKBOARD_COMPRESSION",
	"CORKBOARD_RATE_LIMIT",
	"CORKBOARD_REQUEST_ID",
];

/** Of an address, in production where addresses are known to be the clients' own. */
const RATE_LIMIT = { requests: 600, perMs: 60_000 } as const;

/**
 * The environment as settings. Every fault is told at once, in one error. A
 * setting that is empty counts as not given. `secret: "unneeded"` is for
 * commands that neither make nor check a token.
 */
export function readConfig(
	environment: Readonly<Record<string, string | undefined>>,
	{ secret: need = "needed" }: { readonly secret?: "needed" | "unneeded" } = {},
): Config {
	const settings = readSettings(environment, SETTINGS);
	const { given, setting, problems: faults } = settings;
	const file = given("CORKBOARD_TOPOLOGY") ?? null;
	const mode = setting(
		"CORKBOARD_MODE",
		"development or production",
		(text) => parseOneOf(["development", "production"] as const, text),
		file === null ? "development" : "production",
	);
	const persistedDocuments = documentsOf(settings);
	const identity = identityOf(settings);
	const trustProxy = setting(
		"CORKBOARD_TRUST_PROXY",
		"off, on, or addresses and networks with commas between them",
		parseProxies,
		false,
	);
	const maxCost = setting(
		"CORKBOARD_MAX_COST",
		"an integer from 1 to 1000000000",
		(text) => parseInteger(text, 1, 1_000_000_000),
		50_000,
	);
	const config: Config = {
		host: given("HOST") ?? (file === null ? "127.0.0.1" : "0.0.0.0"),
		port: setting(
			"PORT",
			"a port from 0 to 65535",
			(text) => parseInteger(text, 0, 65_535),
			4000,
		),
		mode,
		store: storeOf(settings, file),
		memcached: setting(
			"CORKBOARD_MEMCACHED",
			"host:port, with commas between several",
			parseHosts,
			[],
		),
		redis: setting(
			"CORKBOARD_REDIS",
			"an address like redis://host:6379 or rediss://host:6379",
			parseRedisUrl,
			null,
		),
		secret: secretOf(settings, file !== null && need === "needed"),
		identity,
		graphiql: setting<Config["graphiql"]>(
			"CORKBOARD_GRAPHIQL",
			"on or off",
			(text) => {
				const isOn = parseOnOff(text);
				return isOn === undefined ? undefined : isOn ? "everyone" : "nobody";
			},
			mode === "development" && persistedDocuments.mode !== "strict"
				? "everyone"
				: identity.operators.ids.size + identity.operators.claims.length > 0
					? "operators"
					: "nobody",
		),
		maxCost,
		budgetLimit: budgetLimitOf(settings, maxCost),
		cors: setting(
			"CORKBOARD_CORS",
			"origins with commas between them, like https://example.com, or off",
			parseOrigins,
			[],
		),
		log: {
			level: "info",
			format: mode === "development" ? "text" : "json",
			...setting(
				"CORKBOARD_LOG",
				`a level (${LOG_LEVELS.join(", ")}), a format (${LOG_FORMATS.join(", ")}), or both with a comma between them`,
				parseLogSettings,
				{},
			),
		},
		trustProxy,
		persistedDocuments,
		// Behind a proxy that is not believed all clients have one address.
		http: httpOf(
			settings,
			mode === "production" && trustProxy !== false ? RATE_LIMIT : null,
		),
	};
	if (faults.length > 0) {
		throw new CorkboardError("BAD_CONFIG", faults.join("\n"));
	}
	return config;
}

function storeOf(
	{ given, setting, problems: faults }: Settings,
	file: string | null,
): Store {
	const demo = setting("CORKBOARD_DEMO", "on or off", parseOnOff, true);
	const folder = given("CORKBOARD_DATA");
	if (file === null) {
		for (const name of ["CORKBOARD_MEMCACHED", "CORKBOARD_REDIS"]) {
			if (given(name) === undefined) continue;
			faults.push(
				`${name} goes with CORKBOARD_TOPOLOGY only: one process owns an embedded folder, and its own cache is nearer than any other, so leave it out`,
			);
		}
		return { kind: "embedded", folder: folder ?? "data", demo };
	}
	if (folder !== undefined) {
		faults.push(
			"CORKBOARD_TOPOLOGY and CORKBOARD_DATA were both given: a topology says itself where its data is, so leave out one of them",
		);
	}
	return { kind: "topology", file };
}

function documentsOf({
	given,
	setting,
	problems: faults,
}: Settings): Config["persistedDocuments"] {
	const mode = setting(
		"CORKBOARD_DOCUMENTS",
		"off, report or strict",
		(text) => parseOneOf(["off", "report", "strict"] as const, text),
		"off",
	);
	const files = parseList(given("CORKBOARD_DOCUMENT_FILES") ?? "");
	if (mode === "off" && files.length > 0) {
		faults.push(
			"CORKBOARD_DOCUMENT_FILES goes with CORKBOARD_DOCUMENTS=report or strict, so give that too, or leave it out",
		);
	}
	if (mode !== "off" && files.length === 0) {
		faults.push(
			`CORKBOARD_DOCUMENTS=${mode} needs CORKBOARD_DOCUMENT_FILES, paths with commas between them, but got none`,
		);
	}
	return { mode, files };
}

function secretOf(
	{ given, problems: faults }: Settings,
	isNeeded: boolean,
): Uint8Array | null {
	const secret = given("CORKBOARD_SECRET");
	if (secret === undefined) {
		if (isNeeded) {
			faults.push(
				`CORKBOARD_SECRET must be given with a topology, at least ${SECRET_BYTES} bytes that every server of the fleet shares, but got nothing`,
			);
		}
		return null;
	}
	const bytes = Buffer.from(secret);
	if (bytes.length < SECRET_BYTES) {
		// What was given is not repeated: it may be half of somebody's secret.
		faults.push(
			`CORKBOARD_SECRET must have at least ${SECRET_BYTES} bytes but got: ${bytes.length}`,
		);
	}
	return bytes;
}

function identityOf({
	given,
	setting,
	problems: faults,
}: Settings): IdentityConfig {
	const jwks = setting(
		"CORKBOARD_JWKS",
		"an https address (http only for this machine)",
		parseJwksUrl,
		null,
	);
	const claims = {
		issuer: given("CORKBOARD_ISSUER") ?? null,
		audience: given("CORKBOARD_AUDIENCE") ?? null,
		subject: given("CORKBOARD_SUBJECT_CLAIM") ?? "sub",
	};
	if (jwks !== null && (claims.issuer === null || claims.audience === null)) {
		faults.push(
			"CORKBOARD_JWKS needs CORKBOARD_ISSUER and CORKBOARD_AUDIENCE too: whose keys those are signs tokens for others as well",
		);
	}
	const operators = setting(
		"CORKBOARD_OPERATORS",
		"ids of users, or claims of their tokens like roles=operator, with commas between them",
		operatorsIn,
		{ ids: new Set<Id>(), claims: [] },
	);
	return { jwks, claims, operators };
}

function operatorsIn(text: string): IdentityConfig["operators"] | undefined {
	const ids = new Set<Id>();
	const claims: { name: string; value: string }[] = [];
	for (const part of parseList(text)) {
		// A claim's name may be an address (RFC 7519 §4.2), and have its own "=".
		const [, name, value] = /^(\S+)=([^\s=]+)$/.exec(part) ?? [];
		const id = parseId(part);
		if (name !== undefined && value !== undefined) claims.push({ name, value });
		else if (id !== "malformed" && id !== "reserved") ids.add(id);
		else return undefined;
	}
	return { ids, claims };
}

function budgetLimitOf(
	{ setting, problems: faults }: Settings,
	maxCost: number,
): Config["budgetLimit"] {
	const budget = setting(
		"CORKBOARD_BUDGET",
		"off, or how much one viewer or address may read in a second, minute or hour, like 500000/minute",
		parseRate,
		null,
	);
	if (budget === null) return null;
	const { requests: points, perMs } = budget;
	if (points < maxCost) {
		faults.push(
			`CORKBOARD_BUDGET must be at least CORKBOARD_MAX_COST, or some operations could never run, but got: ${points} and ${maxCost}`,
		);
	}
	return { points, perMs };
}

function httpOf(
	{ setting }: Settings,
	defaultRate: HttpConfig["rateLimit"],
): HttpConfig {
	return {
		status: setting(
			"CORKBOARD_HTTP_STATUS",
			"audit or draft",
			(text) => parseOneOf(["audit", "draft"] as const, text),
			"audit",
		),
		maxAge: setting(
			"CORKBOARD_HTTP_MAX_AGE",
			"seconds from 0 to 31536000",
			(text) => parseInteger(text, 0, 31_536_000),
			10,
		),
		compression: setting(
			"CORKBOARD_COMPRESSION",
			"on or off",
			parseOnOff,
			true,
		),
		rateLimit: setting(
			"CORKBOARD_RATE_LIMIT",
			"off, or requests of one address in a second, minute or hour, like 600/minute",
			parseRate,
			defaultRate,
		),
		requestIdHeader: setting(
			"CORKBOARD_REQUEST_ID",
			"off, or the name of a header like x-request-id",
			parseHeaderName,
			null,
		),
	};
}
