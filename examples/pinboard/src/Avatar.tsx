import { chanceOf, paletteOf } from "./picture.ts";

/** The initials of a user without a profile picture. */
export function Avatar(props: {
	readonly name: string;
	readonly size?: number;
}) {
	const { name, size = 28 } = props;
	const palette = paletteOf(chanceOf(name));
	const initials = name
		.split(/\s+/)
		.slice(0, 2)
		.map((word) => word.charAt(0))
		.join("");
	return (
		<span
			className="avatar"
			aria-hidden="true"
			style={{
				width: size,
				height: size,
				fontSize: size * 0.38,
				background: palette[1],
			}}
		>
			{initials}
		</span>
	);
}
