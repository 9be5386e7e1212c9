/** Names that the program uses beside those of the SDL, which therefore must not take them (names.ts). */

/** Lookups. Those with a space in their name need no reservation: no lookup of an SDL has one. */
export const RESERVED_LOOKUPS = {
	/** Idempotency keys of requests. */
	idempotency: "idempotency",
	/** Keys of imported objects. */
	import: "import",
	/** The import's lease and numbering. Its rows name no object. */
	importState: "import state",
	/** Users that were erased, by id. Its rows name no object. */
	erased: "erased users",
	/** Who exported or erased which user, and when. Its rows name no object. */
	accountAudit: "account audit",
	/** How far a restore of a dump is. Its row names no object, and is in no dump. */
	restoreState: "restore state",
	/** Which graph this is. Its row names no object, and is in no dump. */
	graphId: "graph id",
	/** Until when a process without Redis writes. Its row names no object. */
	unpublishedWrites: "unpublished writes",
} as const;

/** Keys of an object's stored JSON. */
export const RESERVED_KEYS = [
	"active",
	"state",
	"version",
	"tokens",
	"idempotency",
	"fence",
] as const;

/** Tables and, as SQLite has them in one namespace, indexes of a shard and of a mod shard. */
export const RESERVED_TABLES = [
	"lists",
	"lookups",
	"outbox",
	"outbox_due",
	"renumberings",
] as const;
