/** Of each system on MySQL: as many as Corkboard has on a host. */
export const SHARDS = 4;
