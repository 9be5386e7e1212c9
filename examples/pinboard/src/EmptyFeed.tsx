import { address } from "./route.ts";

/** How a feed comes about. */
export function EmptyFeed() {
	return (
		<div className="missing">
			<h2>Nothing here yet.</h2>
			<p>
				Your feed has pins of the people, boards and interests that you follow,
				and pins like those that you save. Follow an interest, such as{" "}
				<a href={address("interest", "gardens")}>gardens</a>, or somebody whose
				pins you like; then refresh this page.
			</p>
		</div>
	);
}
