import { resolvers } from "../domain/resolvers/resolvers.ts";
import { applyScalars } from "../graphql/scalars.ts";
import { createPlanner } from "../plan/planner.ts";
import type { DocumentRules } from "../server/documents/checkDocumentFile.ts";
import { loadOwnModel } from "./model.ts";

/** What a server holds documents against, where no store is open. */
export function documentRules(maxCost: number): DocumentRules {
	const { model, schema, domain } = loadOwnModel();
	applyScalars(schema);
	const planner = createPlanner({
		schema,
		model,
		resolvers,
		maxCost,
		maxPlans: 1,
		visibility: domain.visibility,
	});
	return { schema, planner, maxCost };
}
