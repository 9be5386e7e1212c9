import type { Operators } from "./kinds.ts";
import type { Settings } from "./readSettings.ts";

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
	readonly operators: Operators;
}

/** Reads the settings of identity; what is wrong with them goes to the problems. */
export function identityOf({ value, problems }: Settings): IdentityConfig {
	const jwks = value("CORKBOARD_JWKS");
	const claims = {
		issuer: value("CORKBOARD_ISSUER"),
		audience: value("CORKBOARD_AUDIENCE"),
		subject: value("CORKBOARD_SUBJECT_CLAIM"),
	};
	if (jwks !== null && (claims.issuer === null || claims.audience === null)) {
		problems.push(
			"CORKBOARD_JWKS needs CORKBOARD_ISSUER and CORKBOARD_AUDIENCE: the issuer signs tokens for other services too.",
		);
	}
	return { jwks, claims, operators: value("CORKBOARD_OPERATORS") };
}
