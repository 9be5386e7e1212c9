import type { ApolloClient, ApolloLink } from "@apollo/client";
import type { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import type { Client, CombinedError, Exchange } from "@urql/core";
import type { GraphQLClient } from "graphql-request";
import type { Environment } from "relay-runtime";

/** What the files of the docs export: theirs is the truth, and tsc holds each to its own project. */

type FieldErrors = Readonly<Record<string, string>>;

interface Viewer {
	readonly url: string;
	readonly token: () => string | null;
}

export interface ApolloModule {
	createClient(
		options: Viewer & { readonly links?: readonly ApolloLink[] },
	): ApolloClient;
	codeOf(error: unknown): string | null;
	fieldsOf(error: unknown): FieldErrors;
}

export interface Manifest {
	readonly operations: readonly {
		readonly id: string;
		readonly name: string;
	}[];
}

export interface ManifestModule {
	manifestLink(manifest: Manifest): PersistedQueryLink;
}

export interface UrqlModule {
	createClient(
		options: Viewer & { readonly exchanges?: readonly Exchange[] },
	): Client;
	codeOf(error: CombinedError): string | null;
	fieldsOf(error: CombinedError): FieldErrors;
}

export interface UrqlPersistedModule {
	readonly persisted: Exchange;
}

export interface RelayModule {
	createEnvironment(options: {
		readonly url: string;
		readonly token: string | null;
	}): Environment;
	codeOf(error: Error): string | null;
	fieldsOf(error: Error): FieldErrors;
}

export interface GraphqlRequestModule {
	createClient(options: Viewer): GraphQLClient;
	codeOf(error: unknown): string | null;
	fieldsOf(error: unknown): FieldErrors;
}

export interface PinsModule {
	pinsOf(
		client: GraphQLClient,
		slug: string,
	): AsyncIterable<{ readonly id: string; readonly details: string | null }>;
}

export interface ReadNewerModule {
	readNewer(options: {
		readonly url: string;
		readonly token: string | null;
		readonly username: string;
		readonly before: string;
	}): Promise<{
		readonly pins: readonly { readonly id: string }[];
		readonly before: string;
	}>;
}
