import { applyScalars } from "../graphql/scalars.ts";
import { createPlanner } from "../plan/planner.ts";
import type { DocumentRules } from "../server/documents/checkDocumentFile.ts";
import type { App } from "./defineApp.ts";
import { readApp } from "./readApp.ts";

/** What a server holds documents against, if no store is open. */
export function documentRules(app: App, maxCost: number): DocumentRules {
	const { model, schema, domain, resolvers } = readApp(app);
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
