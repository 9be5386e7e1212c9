import { type Id, parseId } from "../id/ids.ts";
import type { Settings } from "../util/environment.ts";
import { parseJwksUrl, parseList } from "../util/settings.ts";

/** Which access tokens are accepted. */
export interface IdentityConfig {
	/** URL of the public keys of an external issuer; null: Corkboard signs tokens with the secret. */
	readonly jwks: string | null;
	readonly claims: {
		readonly issuer: string | null;
		readonly audience: string | null;
		/** The claim that names the user. */
		readonly subject: string;
	};
	/** Operators, by user id or by a claim of their tokens. */
	readonly operators: {
		readonly ids: ReadonlySet<Id>;
		readonly claims: readonly {
			readonly name: string;
			readonly value: string;
		}[];
	};
}

/** Reads the settings of identity; what is wrong with them goes to the problems. */
export function identityOf({
	given,
	setting,
	problems,
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
		problems.push(
			"CORKBOARD_JWKS needs CORKBOARD_ISSUER and CORKBOARD_AUDIENCE: the issuer signs tokens for other services too.",
		);
	}
	const operators = setting(
		"CORKBOARD_OPERATORS",
		"user ids, or claims of tokens such as roles=operator, separated by commas",
		operatorsIn,
		{ ids: new Set<Id>(), claims: [] },
	);
	return { jwks, claims, operators };
}

function operatorsIn(text: string): IdentityConfig["operators"] | undefined {
	const ids = new Set<Id>();
	const claims: { name: string; value: string }[] = [];
	for (const part of parseList(text)) {
		// A claim's name may be a URI (RFC 7519, section 4.2) that contains "=".
		const [, name, value] = /^(\S+)=([^\s=]+)$/.exec(part) ?? [];
		const id = parseId(part);
		if (name !== undefined && value !== undefined) claims.push({ name, value });
		else if (id !== "malformed" && id !== "reserved") ids.add(id);
		else return undefined;
	}
	return { ids, claims };
}
