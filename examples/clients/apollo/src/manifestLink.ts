import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { getOperationAST } from "graphql";

export function manifestLink(manifest: {
	readonly operations: readonly {
		readonly id: string;
		readonly name: string;
	}[];
}): PersistedQueryLink {
	const ids = new Map(manifest.operations.map(({ name, id }) => [name, id]));
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
