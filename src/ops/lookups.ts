/** The lookup that holds the keys of imported objects. */
export const IMPORT_LOOKUP = "import";

/** The lookup that holds the state of imports: the lease and the numbering. Its rows name no object. */
export const IMPORT_STATE_LOOKUP = "import state";
