/** What a mapping says of a row that cannot be taken over: the row is reported with this text, and skipped. */
export class MappingError extends Error {}
