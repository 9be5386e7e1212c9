import {
	id,
	mutation,
	optional,
	type RequestContext,
	type Resolvers,
	required,
	requireVisibleOrPublic,
	type Validator,
} from "corkboard";
import { newStoredJson, type Schema } from "../typed.ts";
import { fieldPolicies } from "../validators.ts";

type Reason = Schema["objects"]["Report"]["fields"]["reason"];

/** GraphQL has checked that it is a value of the enum. */
const reason: Validator<Reason> = (given) => ({ value: given as Reason });

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
		const { viewer, now } = context;
		const subject = await requireVisibleOrPublic(context, null, subjectId);
		await context.writes.create({
			type: "Report",
			data: newStoredJson(context, "Report", {
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
		return { subject: subject.id, subjectId: subject.id };
	},
);

export const reportResolvers: Resolvers<RequestContext> = new Map([
	["Mutation.report", report],
]);
