/** Shown for an object that is deleted, hidden from the viewer, or never existed: the API does not distinguish them. */
export function Missing({ what }: { readonly what: string }) {
	return (
		<div className="missing">
			<h1>There is no such {what}.</h1>
			<p>
				It may be gone, or its owner's alone. <a href="#/">Look around</a>
			</p>
		</div>
	);
}
