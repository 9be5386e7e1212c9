/**
 * What apps import: `import { defineApp } from "corkboard"`. What is exported here is
 * promised; test/publicInterface.test.ts has the list.
 */
export {
	type App,
	type AppDemo,
	defineApp,
	type Example,
	type Identity,
	type Part,
	type Policies,
	policy,
} from "./app/defineApp.ts";
export {
	type FieldsOf,
	type ForSchema,
	forSchema,
	type NodeOf,
	type PartOf,
	type PlacementOf,
	type PoliciesOf,
	type SchemaTypes,
	type VisibilityOf,
} from "./app/forSchema.ts";
export type { JobContext } from "./app/jobContext.ts";
export { CorkboardError, type FieldProblem } from "./errors.ts";
export { RELATED_COST } from "./feed/candidates/related.ts";
export type {
	FeedDefinition,
	FollowedSource,
	Rate,
	RelatedSource,
} from "./feed/feedModel.ts";
export { type FeedOfRequest, LOOK_COST } from "./feed/homeFeeds.ts";
export type { Source } from "./feed/sources.ts";
export { edgesByPrefix } from "./graph/read/findByPrefix.ts";
export type { VisibilityPolicy } from "./graph/read/visibilityPolicy.ts";
export type { Graph, NewObject, Node } from "./graph/types.ts";
export type { PlacementPolicy } from "./graph/write/placement.ts";
export type { RequestContext } from "./graphql/context.ts";
export {
	optional,
	optionalNonNull,
	required,
} from "./graphql/input/readInput.ts";
export {
	type InputId,
	id,
	idempotencyKey,
	ids,
} from "./graphql/input/validators.ts";
export { type Id, parseId } from "./id/ids.ts";
export {
	accepting,
	boolean,
	dateTime,
	type FieldPolicies,
	integer,
	invalid,
	mustBe,
	oneOf,
	optionalPart,
	text,
	type Validator,
	webAddress,
} from "./model/validation.ts";
export {
	blankToNull,
	type Conversion,
	local,
	type Migration,
	migration,
	type Row,
	ref,
	utc,
	utf8InLatin1,
} from "./ops/migrate/mapping.ts";
export { type Screen, screens } from "./ops/migrate/screens.ts";
export type { Rewrite } from "./ops/rewriteObjects.ts";
export type { BatchResolver, Resolvers } from "./plan/batchResolver.ts";
export { coerceFirst, MAX_PAGE_SIZE } from "./plan/pageArguments.ts";
export { type AnyJob, GiveUp, job, Later } from "./queue/job.ts";
export type { Right, TypeRights } from "./resolvers/declaredMutations.ts";
export {
	edgeMutation,
	edgeMutations,
	requireVisibleOrEdge,
} from "./resolvers/edgeMutation.ts";
export { fieldsToCreate, fieldsToUpdate } from "./resolvers/fieldInputs.ts";
export { listCount } from "./resolvers/listCount.ts";
export {
	anonymousMutation,
	idempotency,
	invalidField,
	type MutationContext,
	mutation,
	ownId,
} from "./resolvers/mutation.ts";
export { byId, byIdOrKey } from "./resolvers/nodeResolvers.ts";
export { nodesOf } from "./resolvers/nodesOf.ts";
export { isGiven, positionInput, requireOnList } from "./resolvers/position.ts";
export {
	bothOrFirstError,
	findVisible,
	notFound,
	requireVisible,
	requireVisibleOrPublic,
} from "./resolvers/requireVisible.ts";
export { resolver } from "./resolvers/resolver.ts";
export {
	type Arguments,
	rootField,
	sizeOfList,
} from "./resolvers/rootField.ts";
export {
	type Rule,
	requireByRule,
	requireRuleOn,
	rightByRule,
	viewerMayByRule,
} from "./resolvers/rules.ts";
export {
	lookupOf,
	mappingOf,
	newStoredJson,
	referenceOf,
	storedFields,
	storedValue,
	updatedStoredJson,
} from "./resolvers/storedJson.ts";
export { viewerMembership } from "./resolvers/viewerMembership.ts";
export type { CallOptions } from "./trace.ts";
export { compact } from "./util/compact.ts";
export type { JsonObject } from "./util/json.ts";
export { andThen, isPromise, type MaybePromise } from "./util/maybePromise.ts";
export { type Random, seededRandom } from "./util/random.ts";
