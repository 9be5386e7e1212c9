import type { Domain } from "../graph/domain.ts";
import { createVisibility } from "../graph/read/visibility.ts";
import { createPlacement } from "../graph/write/placement.ts";
import type { Model } from "../model/types.ts";
import { placementPolicy } from "./placement.ts";
import { visibilityPolicy } from "./visibility.ts";

/** What is particular to the SDL in `schema/`, for the engine. */
export function createDomain(model: Model): Domain {
	return {
		visibility: createVisibility(model, visibilityPolicy),
		placement: createPlacement(model, placementPolicy),
		createdAtField: "createdAt",
	};
}
