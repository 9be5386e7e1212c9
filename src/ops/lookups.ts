import { RESERVED_LOOKUPS } from "../model/reservedNames.ts";

/** The lookup that holds the keys of imported objects. */
export const IMPORT_LOOKUP = RESERVED_LOOKUPS.import;

/** The lookup that holds the state of imports: the lease and the numbering. Its rows name no object. */
export const IMPORT_STATE_LOOKUP = RESERVED_LOOKUPS.importState;
