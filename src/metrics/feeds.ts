import type { Channel } from "node:diagnostics_channel";

/** Some metrics, and what feeds them: diagnostics channels and what is done with their messages. */
export type Feeds = readonly (readonly [Channel, (message: unknown) => void])[];
