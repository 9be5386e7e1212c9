import type { ReactNode } from "react";
import { graphql, useFragment } from "react-relay";
import type { PinCard_pin$key } from "./__generated__/PinCard_pin.graphql.ts";
import { Avatar } from "./Avatar.tsx";
import { LikeButton } from "./LikeButton.tsx";
import { Picture } from "./Picture.tsx";
import { address, pinAddress } from "./route.ts";
import { SaveButton } from "./SaveButton.tsx";

export function PinCard(props: {
	readonly pin: PinCard_pin$key;
	/** Below the rest. */
	readonly children?: ReactNode;
}) {
	const pin = useFragment(
		graphql`
			fragment PinCard_pin on Pin {
				id
				title
				details
				image {
					url
					width
					height
					alt
				}
				owner {
					name
					username
				}
				...LikeButton_pin
				...SaveButton_pin
			}
		`,
		props.pin,
	);
	const { image, owner } = pin;
	return (
		<article className="card" data-pin={pin.id}>
			<SaveButton pin={pin} />
			<a className="frame" href={pinAddress(pin.id)}>
				<Picture
					seed={image?.url ?? pin.id}
					alt={image?.alt ?? "A pin without a picture"}
					width={image?.width ?? 600}
					height={image?.height ?? 600}
				/>
			</a>
			<p>{pin.title ?? pin.details}</p>
			<footer>
				{owner ? (
					<a className="person" href={address("user", owner.username)}>
						<Avatar name={owner.name} size={24} />
						<span>{owner.name}</span>
					</a>
				) : (
					<span />
				)}
				<LikeButton pin={pin} />
			</footer>
			{props.children}
		</article>
	);
}
