import {
	id,
	mustBe,
	mutation,
	optional,
	type PartOf,
	parseId,
	required,
	requireVisibleOrPublic,
	text,
	type Validator,
} from "corkboard";
import { newStoredJson, type Schema } from "../typed.ts";

type Reason = Schema["objects"]["Report"]["fields"]["reason"];

/** GraphQL has checked that it is a value of the enum. */
const reason: Validator<Reason> = (given) => ({ value: given as Reason });

const reportText = text(1_000);

/** An id as it is stored. */
const objectId: Validator<string> = (given) => {
	const parsed = typeof given === "string" ? parseId(given) : "malformed";
	return parsed === "malformed" || parsed === "reserved"
		? mustBe("the id of an object", given)
		: { value: parsed };
};

/** The object is the idempotency key: a viewer who reports it again gets the same answer, and operators no second report. */
const report = mutation(
	{
		name: "report",
		input: () => ({
			subjectId: required(id),
			reason: required(reason),
			text: optional(reportText),
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

/** Reports to the operators. Nobody sees them in the API; a command prints them. */
export const reports: PartOf<Schema> = {
	resolvers: new Map([["Mutation.report", report]]),
	policies: {
		visibility: {
			types: { Report: { owner: "reporter", isVisible: () => false } },
		},
		placement: { Report: { colocateWith: "reporter" } },
		fields: {
			Report: {
				subjectId: { validate: objectId, operatorOnly: true },
				text: { validate: reportText },
			},
		},
	},
};
