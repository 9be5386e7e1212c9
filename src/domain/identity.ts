/** Which objects may be viewers, and the lookups that find them. */
export const IDENTITY = {
	/** The type that viewers are of. */
	type: "User",
	/** Finds a user by the name it chose. */
	nameLookup: "username",
	/** Finds a user by its subject at another token issuer. */
	accountLookup: "account",
} as const;
