import { type Id, typeOf } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";

/** The name of the type that an id holds; null if the model has none with its number. */
export function typeNameOf(model: Model, id: Id): string | null {
	return model.objectsByNumber.get(typeOf(id))?.name ?? null;
}
