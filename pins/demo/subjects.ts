/** What people of the demo graph collect. The first subjects are the most popular. */
export interface Subject {
	readonly slug: string;
	readonly name: string;
	readonly boards: readonly string[];
	/** Each begins a description of a pin: "Sourdough loaf". */
	readonly things: readonly string[];
	/** Each ends a description: "with a crust you can hear". */
	readonly endings: readonly string[];
}

/** Each list in one text, separated by ` / `. */
function subject(
	slug: string,
	name: string,
	lists: Readonly<Record<"boards" | "things" | "endings", string>>,
): Subject {
	return {
		slug,
		name,
		boards: lists.boards.split(" / "),
		things: lists.things.split(" / "),
		endings: lists.endings.split(" / "),
	};
}

export const SUBJECTS: readonly Subject[] = [
	subject("baking", "Baking", {
		boards: "Things with crusts / Sunday baking / Flour everywhere",
		things:
			"Sourdough loaf / Cardamom buns / Lemon drizzle cake / Rye crackers / Plum galette / Oat biscuits / Cheese scones / Chocolate babka",
		endings:
			"with a crust you can hear from the next room / that forgives a lazy oven / for when the starter finally wakes up / that is gone before it cools / with half the sugar and nobody has noticed",
	}),
	subject("gardens", "Gardens", {
		boards: "Small gardens / Balcony jungle / What grows in shade",
		things:
			"Raised bed / Fern corner / Climbing beans / Window box / Gravel path / Herb spiral / Pond the size of a bucket / Hedge of lavender",
		endings:
			"that the bees approve of / for a balcony that faces the wrong way / that survives a holiday without water / built from what the neighbours threw out / where even the slugs looked impressed",
	}),
	subject("interiors", "Interiors", {
		boards: "Rooms to steal / One day, a hallway / Shelves, shelves, shelves",
		things:
			"Reading nook / Narrow hallway / Bookcase wall / Kitchen shelf / Attic bedroom / Green bathroom / Window seat / Folding desk",
		endings:
			"that makes a small flat feel tall / with a lamp in exactly the right place / painted the colour of moss / where the cat has already chosen a side / done in a weekend, allegedly",
	}),
	subject("hiking", "Hiking", {
		boards: "Paths for next summer / Huts and ridges / Mud, mostly",
		things:
			"Ridge walk / Coastal path / Hut-to-hut route / Forest loop / Waterfall detour / Sunrise climb / Marsh boardwalk / Two-day traverse",
		endings:
			"with soup at the top / that is longer than the sign says / best done before the midges are up / where the map and the path disagree / worth every blister",
	}),
	subject("cats", "Cats", {
		boards: "Cats in boxes / Important cats / Furniture, as cats see it",
		things:
			"Ginger cat / Cat on a keyboard / Two kittens / Very round cat / Cat in a sink / Elderly tabby / Cat behind a curtain / Shop cat",
		endings:
			"who is never refused a treat / inspecting the new sofa and finding it wanting / pretending that it meant to do that / in a box two sizes too small / on official business",
	}),
	subject("ceramics", "Ceramics", {
		boards: "Mugs, obviously / Glazes to try / Wonky on purpose",
		things:
			"Speckled mug / Celadon bowl / Lidded jar / Salt-glazed jug / Pinch pot / Tea set for one / Tall vase / Carved plate",
		endings:
			"that came out of the kiln better than it went in / with a thumbprint left where the thumb goes / in the blue that nobody can mix twice / which leans, and knows it / for holding exactly one pear",
	}),
	subject("typography", "Typography", {
		boards: "Letters on walls / Ampersands / Signs that got it right",
		things:
			"Painted shop sign / Cast-iron numeral / Wood type poster / Station lettering / Engraved ampersand / Neon word / Old map legend / Stencilled crate",
		endings:
			"with a lower-case g to be jealous of / kerned by somebody who cared / that still reads from across the street / where one letter was clearly painted later / set in something older than the building",
	}),
	subject("knitting", "Knitting", {
		boards: "Next on the needles / Socks and second socks / Yarn I do not need",
		things:
			"Cable jumper / Striped scarf / Pair of socks / Lace shawl / Bobble hat / Moss-stitch blanket / Mittens on a string / Cardigan with pockets",
		endings:
			"from the bottom of the stash / that took one winter and two films / with only one dropped stitch, and it stays / in a wool the colour of fog / knitted flat by popular demand",
	}),
	subject("cycling", "Cycling", {
		boards: "Bicycles worth a detour / Slow touring / Panniers and hills",
		things:
			"Steel tourer / Cargo bike / Leather saddle / Gravel loop / Canal towpath / Folding bicycle / Mountain pass / Dynamo lamp",
		endings:
			"with room for a picnic and a spare / that goes uphill if asked politely / where the wind is always in your face / older than its rider / and a bakery at each end",
	}),
	subject("architecture", "Architecture", {
		boards: "Stairs / Brick done well / Libraries I would live in",
		things:
			"Spiral stair / Brick arch / Timber library / Concrete canopy / Tiled courtyard / Market hall / Lighthouse / Boathouse",
		endings:
			"that makes you slow down / with light in all the right corners / built for rain and better for it / where no two windows agree / that photographs worse than it is",
	}),
	subject("tea", "Tea", {
		boards: "Leaves and pots / Four o'clock / Kettles of distinction",
		things:
			"Oolong / Smoky black tea / Cast-iron pot / Mint from the garden / Travelling tea tin / Roasted green tea / Whistling kettle / Tea cosy",
		endings:
			"for the second half of a long afternoon / that forgives four minutes too many / good for three infusions and an apology / served at the temperature of a hug / and nothing else until the rain stops",
	}),
	subject("astronomy", "Astronomy", {
		boards: "Clear nights only / Moons / Things seen through cloud",
		things:
			"Crescent moon / Star trail / Garden telescope / Ring of Saturn / Meteor over a barn / Winter Orion / Paper planisphere / Comet, probably",
		endings:
			"between two clouds / seen from a car park with cold feet / with an exposure as long as a song / that took three tries and a thermos / older light than anyone's worries",
	}),
	subject("board-games", "Board games", {
		boards: "Rainy evenings / Games for two / Rules nobody reads",
		things:
			"Game of railways / Hand-made chess set / Card game about soup / Co-operative island / Dice tower / Tile-laying puzzle / Domino set / Word game",
		endings:
			"that ends friendships gently / with rules that fit on a napkin / for two players and one biscuit / still missing a single piece / best lost to somebody under ten",
	}),
	subject("birds", "Birds", {
		boards: "Seen from the window / Small and brown / Owls, if lucky",
		things:
			"Robin / Tawny owl / Heron on one leg / Row of swallows / Wren / Kingfisher, a blur / Confident pigeon / Pair of goldfinches",
		endings:
			"who owns the feeder now / at the hour when nobody should be awake / doing an impression of a leaf / with opinions about the hedge / just after the camera was put away",
	}),
	subject("bookbinding", "Bookbinding", {
		boards: "Stitched spines / Paper worth keeping / Boxes for books",
		things:
			"Coptic binding / Marbled endpaper / Pocket notebook / Linen spine / Slipcase / Long-stitch journal / Repaired atlas / Folded map book",
		endings:
			"that opens flat and stays there / sewn with thread the colour of rust / too good to write in, so far / made from one sheet and some patience / that smells of glue and good intentions",
	}),
	subject("swimming", "Wild swimming", {
		boards: "Cold water / Lakes by train / Jetties",
		things:
			"Mountain lake / Tidal pool / River bend / Wooden jetty / Quarry pond / Sea steps / Harbour bath / Hidden cove",
		endings:
			"cold enough to forget your password / with a flat rock for the towel / reached by the last bus but one / where the ducks set the rules / best at seven with a flask",
	}),
];
