import { type GraphQLClient, gql } from "graphql-request";

interface Pin {
	id: string;
	details: string | null;
}

interface Page {
	interest: {
		id: string;
		pins: {
			nodes: (Pin | null)[];
			pageInfo: { endCursor: string | null; hasNextPage: boolean };
		} | null;
	} | null;
}

const PINS = gql`
	query Pins($slug: String!, $after: String) {
		interest(by: {slug: $slug}) {
			id
			pins(first: 100, after: $after) {
				nodes { id details }
				pageInfo { endCursor hasNextPage }
			}
		}
	}
`;

export async function* pinsOf(
	client: GraphQLClient,
	slug: string,
): AsyncGenerator<Pin> {
	let after: string | null = null;
	do {
		const page: Page = await client.request<Page>(PINS, { slug, after });
		const pins = page.interest?.pins;
		if (!pins) return;
		for (const pin of pins.nodes) if (pin) yield pin;
		after = pins.pageInfo.hasNextPage ? pins.pageInfo.endCursor : null;
	} while (after !== null);
}
