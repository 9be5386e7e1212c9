/** Tokens of one document: one of 10,000 aliases is refused by the parser. */
export const MAX_TOKENS = 2_000;
