import { Suspense, useEffect, useRef } from "react";
import { graphql, useLazyLoadQuery } from "react-relay";
import type { PinViewQuery } from "./__generated__/PinViewQuery.graphql.ts";
import { Avatar } from "./Avatar.tsx";
import { LikeButton } from "./LikeButton.tsx";
import { Missing } from "./Missing.tsx";
import { OwnPin } from "./OwnPin.tsx";
import { Picture } from "./Picture.tsx";
import { PinComments } from "./PinComments.tsx";
import { ReportButton } from "./ReportButton.tsx";
import { address, closePin, sectionAddress } from "./route.ts";
import { SaveButton } from "./SaveButton.tsx";

/** A pin, shown over the page it was opened from. */
export function PinDialog({ id }: { readonly id: string }) {
	const dialog = useRef<HTMLDialogElement>(null);
	useEffect(() => dialog.current?.showModal(), []);
	return (
		// biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
		<dialog
			ref={dialog}
			className="pin"
			aria-label="A pin"
			// React has it bubble from a dialog inside this one.
			onClose={(event) => event.target === dialog.current && closePin()}
			onClick={(event) => event.target === dialog.current && closePin()}
		>
			<button
				type="button"
				className="close"
				aria-label="Close"
				onClick={closePin}
			>
				×
			</button>
			<Suspense fallback={<div className="loading" />}>
				<PinView id={id} />
			</Suspense>
		</dialog>
	);
}

function PinView({ id }: { readonly id: string }) {
	const { pin, viewer } = useLazyLoadQuery<PinViewQuery>(
		graphql`
			query PinViewQuery($id: ID!) {
				viewer {
					...PinComments_viewer
				}
				pin(id: $id) {
					title
					details
					link
					image {
						url
						width
						height
						alt
					}
					owner {
						name
						username
						isViewer
					}
					board {
						id
						name
					}
					section {
						id
						name
					}
					origin {
						owner {
							name
							username
						}
					}
					interests(first: 10) {
						nodes {
							slug
							name
						}
					}
					likedBy(first: 5) {
						nodes {
							username
							name
						}
					}
					...OwnPin_pin
					...SaveButton_pin
					...LikeButton_pin
					...PinComments_pin
				}
			}
		`,
		{ id },
	);
	if (!pin) return <Missing what="pin" />;
	const { image, owner, board, section, origin } = pin;
	const width = image?.width ?? 600;
	return (
		<div className="pin-view">
			<Picture
				seed={image?.url ?? id}
				alt={image?.alt ?? "A pin without a picture"}
				width={width}
				// As tall as the text beside it.
				height={Math.max(image?.height ?? width, width)}
			/>
			<div className="words">
				<div className="pin-actions">
					<SaveButton pin={pin} />
					<OwnPin pin={pin} />
					{!owner?.isViewer && <ReportButton id={id} what="pin" />}
				</div>
				<h2>{pin.title ?? pin.details ?? "A pin"}</h2>
				{pin.title && <p>{pin.details}</p>}
				{pin.link && (
					<p>
						<a className="out" href={pin.link} rel="noreferrer">
							{new URL(pin.link).host}
						</a>
					</p>
				)}
				<p className="where">
					{owner && <a href={address("user", owner.username)}>{owner.name}</a>}{" "}
					saved it to{" "}
					{board && <a href={address("board", board.id)}>{board.name}</a>}
					{board && section && (
						<>
							{", "}
							<a href={sectionAddress(board.id, section.id)}>{section.name}</a>
						</>
					)}
					{origin?.owner && (
						<>
							, from{" "}
							<a href={address("user", origin.owner.username)}>
								{origin.owner.name}
							</a>
						</>
					)}
				</p>
				<ul className="chips">
					{pin.interests?.nodes.map(
						(interest) =>
							interest && (
								<li key={interest.slug}>
									<a href={address("interest", interest.slug)}>
										{interest.name}
									</a>
								</li>
							),
					)}
				</ul>
				<div className="likes">
					<LikeButton pin={pin} />
					<span className="faces">
						{pin.likedBy?.nodes.map(
							(user) =>
								user && (
									<a
										key={user.username}
										href={address("user", user.username)}
										title={user.name}
									>
										<Avatar name={user.name} />
									</a>
								),
						)}
					</span>
				</div>
				<PinComments pin={pin} viewer={viewer ?? null} />
			</div>
		</div>
	);
}
