/** The heights of the gray cards, in widths. */
const TALL = [1.3, 0.9, 1.1, 1.5, 1, 1.2, 1.4, 0.8];

/** Gray cards, where a page is going to be. */
export function Skeleton() {
	return (
		<div className="skeleton" aria-busy="true">
			<h1 className="unseen">Loading …</h1>
			<div className="line" />
			<div className="grid">
				{TALL.map((tall) => (
					<div key={tall} style={{ aspectRatio: 1 / tall }} />
				))}
			</div>
		</div>
	);
}
