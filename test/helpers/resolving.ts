import assert from "node:assert/strict";
import { CorkboardError, type ErrorCode } from "../../src/errors.ts";
import type { FeedOfRequest } from "../../src/feed/homeFeeds.ts";
import type { Node } from "../../src/graph/types.ts";
import type { RequestContext } from "../../src/graphql/context.ts";
import type { Id } from "../../src/id/ids.ts";
import { MemoryGraph } from "./memoryGraph.ts";
import { theModel } from "./model.ts";
import { resolvers } from "./resolvers.ts";

export const { model, schema, domain } = theModel();

export const NOW = "2026-11-21T12:00:00.000Z";

/** A graph in memory with two users. Resolvers run for the first. */
export class Resolving {
	readonly graph: MemoryGraph;
	readonly ada: Id;
	readonly ben: Id;
	now = NOW;

	constructor(ofModel = model) {
		this.graph = new MemoryGraph(ofModel);
		this.ada = this.graph.add("User", {
			username: "ada_made_up",
			name: "Ada Made-Up",
			created_at: "2026-01-01T00:00:00.000Z",
			email: "ada@example.com",
		});
		this.ben = this.graph.add("User", {
			username: "ben_made_up",
			name: "Ben Made-Up",
			created_at: "2026-01-01T00:00:00.000Z",
		});
		this.as(this.ada);
	}

	as(viewer: Id | null): this {
		this.graph.viewer = viewer;
		return this;
	}

	board(owner: Id, data: { name?: string; secret?: boolean } = {}): Id {
		return this.graph.add("Board", {
			name: "Kitchens",
			secret: false,
			created_at: "2026-01-02T00:00:00.000Z",
			...data,
			user_id: owner,
		});
	}

	pin(owner: Id, board: Id, data: Node["data"] = {}): Id {
		return this.graph.add("Pin", {
			created_at: "2026-01-03T00:00:00.000Z",
			...data,
			board_id: board,
			user_id: owner,
		});
	}

	section(board: Id, name = "To try"): Id {
		return this.graph.add("Section", {
			name,
			created_at: "2026-01-03T00:00:00.000Z",
			board_id: board,
		});
	}

	/** The result of a field for one parent, which may be an error. */
	async answer(
		field: string,
		args: Readonly<Record<string, unknown>>,
	): Promise<unknown> {
		const answers = await this.#resolve(field, args, [null]);
		assert.equal(answers.length, 1);
		return answers[0];
	}

	/** The payload of a mutation that must succeed. */
	async change(
		mutation: string,
		input: Readonly<Record<string, unknown>>,
	): Promise<Record<string, Id>> {
		const answer = await this.answer(`Mutation.${mutation}`, { input });
		if (answer instanceof CorkboardError) throw answer;
		return answer as Record<string, Id>;
	}

	/** The message of the error that the field must return, with this code. */
	async refusal(
		code: ErrorCode,
		field: string,
		args: Readonly<Record<string, unknown>>,
	): Promise<string> {
		const answer = await this.answer(field, args);
		assert.ok(answer instanceof CorkboardError, "expected an error");
		assert.equal(answer.code, code, answer.message);
		return answer.message;
	}

	refused(
		code: ErrorCode,
		mutation: string,
		input: Readonly<Record<string, unknown>>,
	): Promise<string> {
		return this.refusal(code, `Mutation.${mutation}`, { input });
	}

	/** The results of a field for many objects, in one call. */
	async ofObjects(field: string, ids: readonly Id[]): Promise<unknown> {
		const type = field.slice(0, field.indexOf("."));
		const parents = ids.map((id) => ({
			id,
			type,
			data: this.graph.data(id) ?? {},
		}));
		return this.#resolve(field, {}, parents);
	}

	#resolve(
		field: string,
		args: Readonly<Record<string, unknown>>,
		parents: readonly (Node | null)[],
	) {
		const resolver = resolvers.get(field);
		assert.ok(resolver, `no resolver for ${field}`);
		const context: RequestContext = {
			graph: this.graph,
			fields: domain.fields,
			writes: () => this.graph,
			viewer: this.graph.viewer,
			feed: NO_PINS,
			signToken: async (id) => `token of ${id}`,
			now: () => new Date(this.now),
		};
		this.graph.calls.length = 0;
		return resolver.resolve({ parents, args, context, call: {} });
	}
}

/** A feed that has nothing to add. */
const NO_PINS: FeedOfRequest = {
	refresh: async () => 0,
	waiting: async () => 0,
	reasons: async (_, pins) => pins.map(() => null),
	related: async () => [],
	async hide() {},
};
