import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "..");

/** What apps rely on. A name leaves this list only with a successor and a line in the changelog. */
const PROMISED: Readonly<Record<string, string>> = {
	"src/corkboard.ts": `
		AnyJob App AppDemo Arguments BatchResolver CallOptions Conversion CorkboardError Example FeedDefinition
		FeedOfRequest FieldPolicies FieldProblem FieldsOf FollowedSource ForSchema GiveUp Graph Id Identity InputId JobContext
		JsonObject LOOK_COST Later MAX_PAGE_SIZE MaybePromise Migration MutationContext NewObject Node NodeOf Part PartOf
		PlacementOf PlacementPolicy Policies PoliciesOf RELATED_COST Random Rate RelatedSource RequestContext Resolvers Rewrite Right Row Rule SchemaTypes Screen Source TypeRights Validator VisibilityOf VisibilityPolicy
		accepting andThen anonymousMutation blankToNull boolean bothOrFirstError byId byIdOrKey coerceFirst compact
		dateTime defineApp edgeMutation edgeMutations edgesByPrefix fieldsToCreate fieldsToUpdate
		findVisible forSchema id idempotency idempotencyKey ids integer invalid invalidField isGiven
		isPromise job listCount local lookupOf mappingOf migration mustBe mutation newStoredJson
		nodesOf notFound oneOf optional optionalNonNull optionalPart ownId parseId
		policy positionInput ref referenceOf
		requireByRule requireOnList requireRuleOn requireVisible requireVisibleOrEdge requireVisibleOrPublic required resolver
		rightByRule 		rootField screens seededRandom sizeOfList storedFields storedValue text updatedStoredJson utc
		utf8InLatin1
		viewerMayByRule viewerMembership webAddress
	`,
	"src/embed.ts":
		"Config Corkboard openCorkboard readConfig startCorkboardServer",
	"src/parts.ts": "CommentsOptions FeedOptions comments feed",
	"src/testing.ts":
		"PrivacyWalk PrivacyWalkOptions RandomWalk RandomWalkOptions TestGraph TestQuery openTest walkPrivacy walkRandomly",
};

test("what is exported to apps is what is promised", () => {
	for (const [file, list] of Object.entries(PROMISED)) {
		const source = readFileSync(join(ROOT, file), "utf8");
		const exported = [
			...source.matchAll(/^export (?:type )?\{([^}]*)\} from/gm),
		].flatMap(([, names = ""]) =>
			names
				.split(",")
				.map((name) => name.trim().replace(/^type /, ""))
				.filter((name) => name !== ""),
		);
		assert.deepEqual(
			exported.toSorted(),
			list.trim().split(/\s+/).toSorted(),
			file,
		);
	}
});

test("package.json exports these files, with their types, and nothing else of src/", () => {
	const { exports: exported } = JSON.parse(
		readFileSync(join(ROOT, "package.json"), "utf8"),
	);
	assert.deepEqual(exported, {
		...Object.fromEntries(
			Object.keys(PROMISED).map((file) => {
				const name = basename(file, ".ts");
				return [
					name === "corkboard" ? "." : `./${name}`,
					{ types: `./build/types/${name}.d.ts`, default: `./${file}` },
				];
			}),
		),
		"./register": "./src/register.mjs",
		"./package.json": "./package.json",
	});
});
