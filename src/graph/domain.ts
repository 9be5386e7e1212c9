import type { Id } from "../id/ids.ts";
import type { Mapping, Reference } from "../model/types.ts";
import type { FieldPolicies } from "../model/validation.ts";
import type { JsonObject } from "../util/json.ts";
import type { Node } from "./types.ts";

/**
 * What the engine cannot read from the SDL: who may see an object and where a
 * new one is stored. Made from the policies of an app (src/app/readApp.ts), and
 * bound to its model.
 */
export interface Domain {
	readonly visibility: Visibility;
	readonly placement: Placement;
	/** Validators and defaults of stored fields. */
	readonly fields: FieldPolicies;
	/** The stored field that holds when an object was created. An import sets it to its own start if a line does not give it. Null for a domain without one. */
	readonly createdAtField: string | null;
}

/** Made from a policy by `createVisibility` (read/visibilityPolicy.ts). */
export interface Visibility {
	/** Whether the viewer may see the object, provided that it may see the object's parent and owner. An object that is shared is visible besides to whom it is shared with. */
	isVisible(node: Node, viewer: Id | null): boolean;
	/** What decides whether somebody may see the object; null if nobody may. */
	factsOf(node: Node): VisibilityFacts | null;
	/** Whether only the user who owns the list may read it. */
	isPrivateList(mapping: Mapping): boolean;
	/** The keys of the stored JSON that name the object's parent and owner. */
	keysOf(type: string): VisibilityKeys;
	/** The reference to the object that objects of this type are a part of. */
	parentOf(type: string): Reference | null;
	/** References to objects that have the same parent as the object itself. */
	siblingsOf(type: string): readonly Reference[];
	/** The owner reference, if an object that is given none takes its parent's. */
	inheritedOwnerOf(type: string): Reference | null;
	/** Whether a change from one content to the other may hide the object, or what is part of it, from somebody. */
	mayHide(type: string, data: JsonObject, next: JsonObject): boolean;
	/**
	 * From when on what an object with this content leaves behind may be archived,
	 * in milliseconds since 1970: 0 for a deleted one; null for one that is not
	 * gone. Visibility hides it, and its parts, whatever this says.
	 */
	goneFrom(type: string, data: JsonObject): number | null;
	/** Whether a change of edges of this mapping may hide something from somebody. */
	edgesHide(mapping: Mapping, change: "added" | "removed"): boolean;
	/** Whether the type's own rule shows an active object with this content to anybody, whatever its parent and owner are. */
	isPublic(type: string, data: JsonObject): boolean;
	/** What has to be read to decide whether an object of this type is visible. */
	dependenciesOf(type: string): readonly VisibilityDependency[];
	/** Lists of the viewer that hide something from it. */
	readonly hides: readonly HidingList[];
}

export interface VisibilityKeys {
	readonly parent: string | null;
	readonly owner: string | null;
}

/** What an object says of who may see it. */
export interface VisibilityFacts {
	readonly parent: Id | null;
	readonly owner: Id | null;
	/** Null if every viewer may who may see the parent and the owner. */
	readonly isVisible: ((node: Node, viewer: Id | null) => boolean) | null;
	/** Leads from a viewer to the object if it is shared with the viewer. */
	readonly sharedBy: Mapping | null;
}

/** Objects that are read to decide whether another one is visible. */
export interface VisibilityDependency {
	/** The reference that leads to them. */
	readonly field: string;
	/** How many: the object referred to and its own dependencies. */
	readonly objects: number;
}

export interface HidingList {
	/** From a user to users. */
	readonly mapping: Mapping;
	/** What is hidden: those users with everything that belongs to them, or only what belongs to them. */
	readonly hides: "user" | "belongings";
}

/** Made from a policy by `createPlacement` (write/placement.ts). */
export interface Placement {
	/** The reference next to whose object an object of this type is created. */
	colocateWith(type: string): Reference | null;
	/** The shard for a new object. */
	shardFor(type: string, data: JsonObject, shards: Shards): number;
}

export interface Shards {
	/** Shards that take new objects. */
	readonly openShards: readonly number[];
	/** How many new objects an open shard takes beside one of weight 1. Absent: they are all alike. */
	weightOf?(shard: number): number;
	/** How many mod shards there are. */
	readonly modShards: number;
}
