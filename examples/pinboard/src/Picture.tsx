import { memo, type ReactElement } from "react";
import { chanceOf, type Palette, paletteOf } from "./picture.ts";

interface Frame {
	readonly width: number;
	readonly height: number;
	readonly palette: Palette;
	readonly chance: () => number;
}

/** A drawing instead of a photograph: the demo's pins have no pictures, and nothing is fetched from other hosts. */
export const Picture = memo(function Picture(props: {
	readonly seed: string;
	/** "" beside words that say as much. */
	readonly alt: string;
	readonly width: number;
	readonly height: number;
}) {
	const { seed, alt, width, height } = props;
	const chance = chanceOf(seed);
	const palette = paletteOf(chance);
	const motif = MOTIFS[Math.floor(chance() * MOTIFS.length)] ?? hills;
	return (
		<svg
			className="picture"
			viewBox={`0 0 ${width} ${height}`}
			preserveAspectRatio="xMidYMid slice"
			role="img"
			aria-label={alt}
			aria-hidden={alt === ""}
		>
			<rect width={width} height={height} fill={palette[0]} />
			{motif({ width, height, palette, chance })}
		</svg>
	);
});

function hills({ width, height, palette, chance }: Frame): ReactElement {
	const sun = width * (0.1 + 0.05 * chance());
	const ridge = (base: number, swing: number) => {
		const y = height * base;
		const a = y - height * swing * (0.4 + chance());
		const b = y + height * swing * chance();
		return `M0 ${y} C ${width * 0.3} ${a}, ${width * 0.6} ${b}, ${width} ${y - height * swing * chance()} V ${height} H 0 Z`;
	};
	return (
		<>
			<circle
				cx={width * (0.25 + 0.5 * chance())}
				cy={height * (0.22 + 0.12 * chance())}
				r={sun}
				fill={palette[3]}
				opacity={0.9}
			/>
			<path d={ridge(0.55, 0.18)} fill={palette[1]} />
			<path d={ridge(0.7, 0.14)} fill={palette[2]} opacity={0.85} />
			<path d={ridge(0.87, 0.1)} fill={palette[2]} />
		</>
	);
}

function tiles({ width, height, palette, chance }: Frame): ReactElement {
	const across = 4;
	const size = width / across;
	const down = Math.ceil(height / size);
	const cells = Array.from({ length: across * down }, (_, n) => {
		const x = (n % across) * size;
		const y = Math.floor(n / across) * size;
		const fill = palette[1 + Math.floor(chance() * 4)];
		const arcs = [
			`M${x} ${y} h${size} a${size} ${size} 0 0 1 ${-size} ${size} Z`,
			`M${x} ${y} v${size} h${size} a${size} ${size} 0 0 0 ${-size} ${-size} Z`,
			`M${x + size} ${y} v${size} h${-size} a${size} ${size} 0 0 1 ${size} ${-size} Z`,
		];
		return chance() < 0.2 ? (
			<circle
				key={`${x} ${y}`}
				cx={x + size / 2}
				cy={y + size / 2}
				r={size * 0.32}
				fill={fill}
			/>
		) : (
			<path key={`${x} ${y}`} d={arcs[Math.floor(chance() * 3)]} fill={fill} />
		);
	});
	return <>{cells}</>;
}

function leaves({ width, height, palette, chance }: Frame): ReactElement {
	const middle = width * (0.4 + 0.2 * chance());
	const pairs = 6;
	const long = width * 0.34;
	return (
		<>
			<circle
				cx={width * chance()}
				cy={height * 0.3}
				r={width * 0.42}
				fill={palette[4]}
				opacity={0.8}
			/>
			<path
				d={`M${middle} ${height} V ${height * 0.12}`}
				stroke={palette[2]}
				strokeWidth={width * 0.012}
			/>
			{Array.from({ length: pairs * 2 }, (_, n) => {
				const side = n % 2 === 0 ? 1 : -1;
				const y = height * (0.2 + (0.68 * Math.floor(n / 2)) / pairs);
				const reach = long * (0.6 + 0.4 * chance());
				const lift = reach * 0.55;
				return (
					<path
						// biome-ignore lint/suspicious/noArrayIndexKey: drawn once, never moved
						key={n}
						d={`M${middle} ${y + lift} q ${side * reach * 0.25} ${-lift * 1.3}, ${side * reach} ${-lift} q ${-side * reach * 0.35} ${lift * 1.1}, ${-side * reach} ${lift} Z`}
						fill={palette[chance() < 0.25 ? 3 : 1 + (n % 2)]}
					/>
				);
			})}
		</>
	);
}

function arches({ width, height, palette, chance }: Frame): ReactElement {
	const x = width * (0.42 + 0.16 * chance());
	const base = height * (0.82 + 0.06 * chance());
	const outer = width * 0.4;
	return (
		<>
			<rect y={base} width={width} height={height - base} fill={palette[1]} />
			{[1, 0.76, 0.52, 0.28].map((part, n) => {
				const r = outer * part;
				const rise = height * 0.2 * part;
				return (
					<path
						key={part}
						d={`M${x - r} ${base} v${-rise} a${r} ${r} 0 0 1 ${r * 2} 0 v${rise} Z`}
						fill={palette[[2, 4, 3, 0][n] ?? 0]}
					/>
				);
			})}
			<circle
				cx={width * 0.84}
				cy={height * 0.14}
				r={width * 0.06}
				fill={palette[3]}
			/>
		</>
	);
}

function still({ width, height, palette, chance }: Frame): ReactElement {
	const table = height * 0.72;
	return (
		<>
			<rect y={table} width={width} height={height} fill={palette[1]} />
			<circle
				cx={width * 0.3}
				cy={height * 0.3}
				r={width * 0.2}
				fill={palette[4]}
			/>
			{[0.24, 0.52, 0.78].map((place) => {
				const x = width * (place + 0.04 * chance());
				const r = width * (0.1 + 0.05 * chance());
				const tall = height * (0.12 + 0.2 * chance());
				const fill = palette[2 + Math.floor(chance() * 2)];
				return chance() < 0.45 ? (
					<circle key={place} cx={x} cy={table - r * 0.7} r={r} fill={fill} />
				) : (
					<path
						key={place}
						d={`M${x - r} ${table + r * 0.4} v${-tall} q0 ${-r} ${r * 0.6} ${-r} v${-r * 0.8} h${r * 0.8} v${r * 0.8} q${r * 0.6} 0 ${r * 0.6} ${r} v${tall} q${-r} ${r * 0.4} ${-r * 2} 0 Z`}
						fill={fill}
					/>
				);
			})}
		</>
	);
}

function waves({ width, height, palette, chance }: Frame): ReactElement {
	const bands = 6;
	const step = height / bands;
	return (
		<>
			{Array.from({ length: bands }, (_, n) => {
				const y = step * (n + 0.55);
				const up = step * (0.35 + 0.5 * chance());
				return (
					<path
						// biome-ignore lint/suspicious/noArrayIndexKey: drawn once, never moved
						key={n}
						d={`M0 ${y} q ${width / 4} ${-up}, ${width / 2} 0 t ${width / 2} 0 V ${height} H 0 Z`}
						fill={palette[[4, 1, 0, 1, 3, 2][n] ?? 1]}
					/>
				);
			})}
		</>
	);
}

const MOTIFS = [hills, tiles, leaves, arches, still, waves];
