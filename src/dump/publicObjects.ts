import type { Domain } from "../graph/domain.ts";
import { type Id, parseId, unpackId } from "../id/ids.ts";
import type { Model } from "../model/types.ts";
import { parseJsonObject } from "../storage/storedObject.ts";
import type { JsonObject } from "../util/json.ts";

/** Objects that are remembered: some hundred bytes each. */
const KEPT = 500_000;

/** What decides whether anybody may see an object: null for nobody. */
type Facts = { readonly needs: readonly Id[] } | null;

/**
 * Which objects everybody may see who is not signed in: what is neither deleted nor
 * hidden, and belongs to nothing that is. `graph/read/visibility.ts` decides the
 * same for a request.
 */
export class PublicObjects {
	readonly #model: Model;
	readonly #visibility: Domain["visibility"];
	readonly #read: (ids: readonly Id[]) => Promise<ReadonlyMap<Id, string>>;
	readonly #erased: ReadonlySet<string>;
	#facts = new Map<Id, Facts>();

	constructor(
		model: Model,
		{ visibility }: Pick<Domain, "visibility">,
		read: (ids: readonly Id[]) => Promise<ReadonlyMap<Id, string>>,
		erased: ReadonlySet<string>,
	) {
		this.#model = model;
		this.#visibility = visibility;
		this.#read = read;
		this.#erased = erased;
	}

	/** Those of the objects that are public. `contents` has what the caller has read. */
	async filter(
		ids: readonly Id[],
		contents: ReadonlyMap<Id, JsonObject | null> = new Map(),
	): Promise<ReadonlySet<Id>> {
		if (this.#facts.size > KEPT) this.#facts = new Map();
		for (const [id, data] of contents) {
			this.#facts.set(id, this.#factsOf(id, data));
		}
		for (
			let unknown = this.#unknown(ids);
			unknown.length > 0;
			unknown = this.#unknown(ids)
		) {
			const texts = await this.#read(unknown);
			for (const id of unknown) {
				const data = parseJsonObject(texts.get(id) ?? "");
				this.#facts.set(id, this.#factsOf(id, data));
			}
		}
		return new Set(ids.filter((id) => this.#isPublic(id)));
	}

	#isPublic(id: Id): boolean {
		const facts = this.#facts.get(id) ?? null;
		return facts?.needs.every((needed) => this.#isPublic(needed)) ?? false;
	}

	/** What has to be read to decide about these. */
	#unknown(ids: readonly Id[]): readonly Id[] {
		const unknown = new Set<Id>();
		const look = (id: Id) => {
			const facts = this.#facts.get(id);
			if (facts === undefined) unknown.add(id);
			else facts?.needs.forEach(look);
		};
		ids.forEach(look);
		return [...unknown];
	}

	#factsOf(id: Id, data: JsonObject | null): Facts {
		const type = this.#model.objectsByNumber.get(unpackId(id).type);
		if (data === null || type === undefined || this.#erased.has(id))
			return null;
		const node = { id, type: type.name, data };
		const facts = this.#visibility.factsOf(node);
		if (facts === null || facts.isVisible?.(node, null) === false) return null;
		const needs = [facts.parent, facts.owner].filter((each) => each !== null);
		return needs.every((each) => parseId(each) === each) ? { needs } : null;
	}
}
