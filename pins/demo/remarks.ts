/** Texts of comments. `{thing}` is the thing of the pin. */
export const REMARKS: readonly string[] = [
	"Trying this on Sunday. Wish me luck.",
	"I have looked at this four times today.",
	"My neighbour has one and will not stop talking about it.",
	"This is exactly what the corner by the window needs.",
	"Saved. Then saved again, in case.",
	"How long did it take you? Asking for a very impatient friend.",
	"It did not look like this when I tried, but it was fun.",
	"The picture on my fridge has been replaced.",
	"Who knew that I needed a {thing}?",
	"Every {thing} should be like this one.",
	"Day three of thinking about this {thing}.",
	"Lovely. Where did you find it?",
	"My cat disagrees, but I like it.",
	"Adding it to the list, right under everything else.",
	"Simple, and so much better for it.",
	"I showed this to my aunt. She wants two.",
];

/** Second sentences of bios, after what the person collects. */
export const ASIDES: readonly string[] = [
	"Usually outdoors, occasionally on purpose.",
	"Owner of too many jars.",
	"Will trade recipes for seeds.",
	"Learning slowly and enjoying it.",
	"Measures twice, cuts anyway.",
	"Mostly here for the comments.",
	"Believes in second breakfasts.",
	"Reads the manual afterwards.",
	"Has a spreadsheet for this.",
	"Made up for a demo, and at peace with it.",
];
