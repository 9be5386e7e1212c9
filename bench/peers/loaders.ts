/** DataLoaders of one request, and resolvers that use them: for Yoga and for Apollo. */
import DataLoader from "dataloader";
import {
	connectionResolvers,
	type Page,
	type PageKey,
	type PageName,
	type Relational,
	type Row,
	type Table,
	type UserCounts,
} from "./relational.ts";
import {
	rootResolvers,
	type ViewerContext,
	viewerFollows,
	viewerLikes,
} from "./roots.ts";

export interface Loaders {
	readonly rows: Readonly<Record<Table, DataLoader<number, Row | null>>>;
	readonly pages: Readonly<Record<PageName, DataLoader<PageKey, Page, string>>>;
	readonly likeCount: DataLoader<number, number>;
	readonly userCounts: DataLoader<number, UserCounts>;
	readonly viewerLikes: DataLoader<number, boolean | null>;
	readonly viewerFollows: DataLoader<number, boolean | null>;
}

export interface LoaderContext extends ViewerContext {
	readonly loaders: Loaders;
}

export function loaderContext(
	database: Relational,
	viewer: number | null,
): LoaderContext {
	return { viewer, loaders: createLoaders(database, viewer) };
}

function createLoaders(database: Relational, viewer: number | null): Loaders {
	const rows = (table: Table) =>
		new DataLoader<number, Row | null>((ids) => database.byIds(table, ids));
	const pages = (name: PageName) =>
		new DataLoader<PageKey, Page, string>(
			(keys) => database.pages(name, keys),
			{ cacheKeyFn: ({ id, first, after }) => `${id} ${first} ${after}` },
		);
	return {
		rows: { users: rows("users"), boards: rows("boards"), pins: rows("pins") },
		pages: {
			boardsOfUser: pages("boardsOfUser"),
			pinsOfBoard: pages("pinsOfBoard"),
			pinsOfUser: pages("pinsOfUser"),
			following: pages("following"),
			likedBy: pages("likedBy"),
		},
		likeCount: new DataLoader((pins) => database.likeCounts(pins)),
		userCounts: new DataLoader((users) => database.userCounts(users)),
		viewerLikes: new DataLoader((pins) => viewerLikes(database, viewer, pins)),
		viewerFollows: new DataLoader((users) =>
			viewerFollows(database, viewer, users),
		),
	};
}

interface PageArguments {
	readonly first: number;
	readonly after?: string | null;
}

const root =
	(table: Table) =>
	(_: unknown, { id }: { id: string }, { loaders }: LoaderContext) =>
		loaders.rows[table].load(Number(id));

const reference =
	(table: Table, column: string) =>
	(row: Row, _: unknown, { loaders }: LoaderContext) =>
		loaders.rows[table].load(row[column] as number);

const page =
	(name: PageName) =>
	({ id }: Row, { first, after }: PageArguments, { loaders }: LoaderContext) =>
		loaders.pages[name].load({ id, first, after: after ?? undefined });

export function loaderResolvers(database: Relational) {
	const { Query, ...roots } = rootResolvers(database);
	return {
		...roots,
		Query: {
			...Query,
			user: root("users"),
			board: root("boards"),
			pin: root("pins"),
		},
		User: {
			boards: page("boardsOfUser"),
			pins: page("pinsOfUser"),
			following: page("following"),
			counts: ({ id }: Row, _: unknown, { loaders }: LoaderContext) =>
				loaders.userCounts.load(id),
			viewerFollows: ({ id }: Row, _: unknown, { loaders }: LoaderContext) =>
				loaders.viewerFollows.load(id),
		},
		Board: {
			owner: reference("users", "owner_id"),
			pins: page("pinsOfBoard"),
		},
		Pin: {
			owner: reference("users", "owner_id"),
			board: reference("boards", "board_id"),
			viewerLikes: ({ id }: Row, _: unknown, { loaders }: LoaderContext) =>
				loaders.viewerLikes.load(id),
			likeCount: ({ id }: Row, _: unknown, { loaders }: LoaderContext) =>
				loaders.likeCount.load(id),
			likedBy: page("likedBy"),
		},
		...connectionResolvers,
	};
}
