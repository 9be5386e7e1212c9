import { graphql, useLazyLoadQuery } from "react-relay";
import type { UserPageQuery } from "./__generated__/UserPageQuery.graphql.ts";
import { Avatar } from "./Avatar.tsx";
import { BlockUser } from "./BlockUser.tsx";
import { EditProfile } from "./EditProfile.tsx";
import { FollowUser } from "./FollowUser.tsx";
import { Missing } from "./Missing.tsx";
import { ReportButton } from "./ReportButton.tsx";
import { UserBoards } from "./UserBoards.tsx";

export function UserPage({ username }: { readonly username: string }) {
	const { user, viewer } = useLazyLoadQuery<UserPageQuery>(
		graphql`
			query UserPageQuery($username: String!) {
				viewer {
					...BlockUser_viewer
				}
				user(by: {username: $username}) {
					id
					name
					username
					isViewer
					bio
					followsViewer
					followers(first: 0) {
						totalCount
					}
					following(first: 0) {
						totalCount
					}
					website
					...BlockUser_user
					...EditProfile_user
					...FollowUser_user
					...UserBoards_user
				}
			}
		`,
		{ username },
	);
	if (!user) return <Missing what="person" />;
	return (
		<>
			<header className="heading profile">
				<Avatar name={user.name} size={88} />
				<h1>{user.name}</h1>
				<p>{user.bio}</p>
				<div className="facts">
					<span>@{user.username}</span>
					<span data-followers>{user.followers?.totalCount} followers</span>
					<span>{user.following?.totalCount} following</span>
					{user.followsViewer && <span className="note">follows you</span>}
					{user.website && (
						<a href={user.website} rel="noreferrer">
							{new URL(user.website).host}
						</a>
					)}
					{user.isViewer ? (
						<EditProfile user={user} />
					) : (
						<>
							<FollowUser user={user} />
							{viewer && <BlockUser user={user} viewer={viewer} />}
							<ReportButton id={user.id} what="person" />
						</>
					)}
				</div>
			</header>
			<UserBoards user={user} />
		</>
	);
}
