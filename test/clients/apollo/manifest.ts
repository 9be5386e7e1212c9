import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { getOperationAST } from "graphql";

export interface Manifest {
	readonly operations: readonly {
		readonly id: string;
		readonly name: string;
	}[];
}

/** Sends ids only: an operation that is not in the manifest is a fault of the build. */
export function manifestLink({ operations }: Manifest): PersistedQueryLink {
	const ids = new Map(operations.map(({ name, id }) => [name, id]));
	return new PersistedQueryLink({
		generateHash(document) {
			const name = getOperationAST(document)?.name?.value ?? "(anonymous)";
			const id = ids.get(name);
			if (id === undefined) throw new Error(`${name} is not in the manifest`);
			return id;
		},
		useGETForHashedQueries: true,
		retry: () => false,
		disable: () => false,
	});
}
