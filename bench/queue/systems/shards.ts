/** Each system on MySQL has as many shards as Corkboard has on a host. */
export const SHARDS = 4;
