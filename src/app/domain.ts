import type { Domain } from "../graph/domain.ts";
import { createVisibility } from "../graph/read/visibilityPolicy.ts";
import { createPlacement } from "../graph/write/placement.ts";
import { checkFieldPolicies } from "../model/fieldReaders.ts";
import type { Model } from "../model/types.ts";
import { placementPolicy } from "./placement.ts";
import { fieldPolicies } from "./validators.ts";
import { visibilityPolicy } from "./visibility.ts";

/**
 * What is particular to the SDL in `schema/`, bound to its model. Throws
 * BAD_MODEL for a policy that names what the model does not have.
 */
export function createDomain(model: Model): Domain {
	checkFieldPolicies(model, fieldPolicies);
	return {
		visibility: createVisibility(model, visibilityPolicy),
		placement: createPlacement(model, placementPolicy),
		fields: fieldPolicies,
		createdAtField: "createdAt",
	};
}
