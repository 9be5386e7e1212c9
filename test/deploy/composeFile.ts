import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export const ROOT = join(import.meta.dirname, "../..");

export interface Service {
	readonly image: string;
	readonly build?: string;
	readonly entrypoint?: readonly string[];
	readonly command: readonly string[];
	readonly environment?: Readonly<Record<string, string | null>>;
	readonly ports?: readonly string[];
	readonly volumes?: readonly string[];
	readonly profiles?: readonly string[];
	readonly restart?: string;
	readonly healthcheck?: {
		readonly disable?: boolean;
		readonly test?: readonly string[];
	};
	readonly depends_on?: Readonly<
		Record<string, { readonly condition: string }>
	>;
}

export interface Compose {
	readonly services: Readonly<Record<string, Service>>;
	readonly volumes: Readonly<Record<string, null>>;
}

export function readCompose(): Compose {
	// Strict: a key that stands twice is an error.
	return parse(fileText("docker-compose.yml"), { merge: true });
}

export function serviceOf(compose: Compose, name: string): Service {
	const service = compose.services[name];
	if (service === undefined) throw new Error(`no service ${name}`);
	return service;
}

export function fileText(path: string): string {
	return readFileSync(join(ROOT, path), "utf8");
}

/** `source:target` or `source:target:ro`. */
export function mountOf(volume: string) {
	const [source = "", target = "", mode = "rw"] = volume.split(":");
	return { source, target, mode };
}
