import { Suspense } from "react";
import { graphql, useLazyLoadQuery } from "react-relay";
import type { BoardPageQuery } from "./__generated__/BoardPageQuery.graphql.ts";
import { Avatar } from "./Avatar.tsx";
import { BoardCounts } from "./BoardCounts.tsx";
import { BoardPins } from "./BoardPins.tsx";
import { BoardSections } from "./BoardSections.tsx";
import { Collaborators } from "./Collaborators.tsx";
import { FollowBoard } from "./FollowBoard.tsx";
import { Missing } from "./Missing.tsx";
import { OwnBoard } from "./OwnBoard.tsx";
import { ReportButton } from "./ReportButton.tsx";
import { address } from "./route.ts";
import { SectionPins } from "./SectionPins.tsx";

export function BoardPage(props: {
	readonly id: string;
	/** The section that is shown; null for all pins. */
	readonly section: string | null;
}) {
	const { id, section } = props;
	const { board } = useLazyLoadQuery<BoardPageQuery>(
		graphql`
			query BoardPageQuery($id: ID!) {
				board(id: $id) {
					name
					description
					secret
					viewerCanUpdate
					owner {
						name
						username
						isViewer
					}
					...BoardCounts_board
					followers(first: 0) {
						totalCount
					}
					...BoardSections_board
					...Collaborators_board
					...OwnBoard_board
					...FollowBoard_board
					...BoardPins_board
				}
			}
		`,
		{ id },
	);
	if (!board) return <Missing what="board" />;
	return (
		<>
			<header className="heading">
				<h1>
					{board.name}
					{board.secret && <small className="secret">secret</small>}
				</h1>
				<p>{board.description}</p>
				<div className="facts">
					{board.owner && (
						<a className="person" href={address("user", board.owner.username)}>
							<Avatar name={board.owner.name} />
							<span>{board.owner.name}</span>
						</a>
					)}
					<BoardCounts board={board} />
					<span data-followers>{board.followers?.totalCount} followers</span>
					<Collaborators board={board} />
					{board.viewerCanUpdate && <OwnBoard board={board} />}
					{!board.owner?.isViewer && (
						<>
							<FollowBoard board={board} />
							<ReportButton id={id} what="board" />
						</>
					)}
				</div>
			</header>
			<BoardSections board={board} current={section} />
			{section === null ? (
				<BoardPins board={board} />
			) : (
				<Suspense key={section} fallback={<div className="loading" />}>
					<SectionPins id={section} />
				</Suspense>
			)}
		</>
	);
}
