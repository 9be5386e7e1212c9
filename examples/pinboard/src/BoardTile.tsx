import { graphql, useFragment } from "react-relay";
import type { BoardTile_board$key } from "./__generated__/BoardTile_board.graphql.ts";
import { Picture } from "./Picture.tsx";
import { address } from "./route.ts";

/** A board in a list of boards, with its first pins. */
export function BoardTile(props: { readonly board: BoardTile_board$key }) {
	const board = useFragment(
		graphql`
			fragment BoardTile_board on Board {
				id
				name
				secret
				preview: pins(first: 3) {
					totalCount
					nodes {
						id
						image {
							url
							alt
						}
					}
				}
			}
		`,
		props.board,
	);
	return (
		<a href={address("board", board.id)}>
			<span className="collage">
				{board.preview?.nodes.map(
					(pin) =>
						pin && (
							<Picture
								key={pin.id}
								seed={pin.image?.url ?? pin.id}
								alt={pin.image?.alt ?? ""}
								width={300}
								height={300}
							/>
						),
				)}
			</span>
			<strong>{board.name}</strong>
			<span>
				{count(board.preview?.totalCount ?? 0, "pin")}
				{board.secret && <small className="secret">secret</small>}
			</span>
		</a>
	);
}

export function count(number: number, noun: string): string {
	return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
