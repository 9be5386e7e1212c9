import type { RequestContext } from "../../graphql/context.ts";
import { optional, required } from "../../graphql/input/readInput.ts";
import { id } from "../../graphql/input/validators.ts";
import type { Validator } from "../../model/validation.ts";
import type { Resolvers } from "../../plan/batchResolver.ts";
import { fieldPolicies } from "../validators.ts";
import { mutation } from "./base/mutation.ts";
import { requireVisible } from "./base/requireVisible.ts";
import { newStoredJson } from "./base/storedJson.ts";

/** GraphQL has checked that it is a value of the enum. */
const reason: Validator<string> = (given) => ({ value: String(given) });

/** The object is the idempotency key: a viewer who reports it again gets the same answer, and operators no second report. */
const report = mutation(
	{
		name: "report",
		input: () => ({
			subjectId: required(id),
			reason: required(reason),
			text: optional(fieldPolicies.Report.text.validate),
		}),
		cost: () => 1,
	},
	async ({ subjectId, ...fields }, context) => {
		const { graph, viewer, now } = context;
		const subject = await requireVisible(context, null, subjectId);
		await context.writes.create({
			type: "Report",
			data: newStoredJson(graph.model, "Report", {
				...fields,
				subjectId: subject.id,
				createdAt: now.toISOString(),
				reporter: viewer,
			}),
			idempotency: {
				scope: `report:${viewer}`,
				key: subject.id,
				request: { subjectId: subject.id },
			},
		});
		return { subject: subject.id };
	},
);

export const reportResolvers: Resolvers<RequestContext> = new Map([
	["Mutation.report", report],
]);
