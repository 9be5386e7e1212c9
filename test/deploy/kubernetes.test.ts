/** deploy/kubernetes/, against the schemas of the Kubernetes API and against what the program takes. */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { describe, it } from "node:test";
import { parseAllDocuments } from "yaml";
import { loadCommands } from "../../src/cli/main.ts";
import { readConfig } from "../../src/config/config.ts";
import { checkTopology } from "../../src/topology/check.ts";
import { fileText, ROOT } from "./composeFile.ts";
import { faultsOf } from "./kubernetesSchemas.ts";

const COMMANDS = await loadCommands();
const FILES = globSync("deploy/kubernetes/**/*.yaml", { cwd: ROOT }).sort();

interface Container {
	readonly args: readonly [string, ...string[]];
	readonly image: string;
	readonly ports?: readonly { readonly name: string }[];
	readonly env?: readonly { readonly name: string; readonly value: string }[];
	readonly envFrom: readonly {
		readonly configMapRef?: { readonly name: string };
		readonly secretRef?: { readonly name: string };
	}[];
	readonly volumeMounts: readonly {
		readonly name: string;
		readonly mountPath: string;
	}[];
	readonly livenessProbe?: Probe;
	readonly readinessProbe?: Probe;
	readonly startupProbe?: Probe;
	readonly resources: {
		readonly requests: Record<string, string>;
		readonly limits: Record<string, string>;
	};
}

interface Probe {
	readonly httpGet: { readonly path: string; readonly port: string };
}

interface PodSpec {
	readonly securityContext: Record<string, unknown>;
	readonly terminationGracePeriodSeconds?: number;
	readonly containers: readonly [Container];
	readonly volumes: readonly {
		readonly name: string;
		readonly configMap?: { readonly name: string };
		readonly secret?: { readonly secretName: string };
	}[];
}

interface Manifest {
	readonly file: string;
	readonly kind: string;
	readonly metadata: { readonly name: string };
	readonly data?: Readonly<Record<string, string>>;
	readonly stringData?: Readonly<Record<string, string>>;
	readonly spec: {
		readonly selector?: Labels & Readonly<Record<string, unknown>>;
		readonly podSelector?: Labels;
		readonly template: {
			readonly metadata: { readonly labels: Record<string, string> };
			readonly spec: PodSpec;
		};
	};
}

interface Labels {
	readonly matchLabels?: Readonly<Record<string, string>>;
}

const manifests: readonly Manifest[] = FILES.flatMap((file) =>
	parseAllDocuments(fileText(file)).map((document) => {
		assert.deepEqual(document.errors, [], file);
		return { file, ...document.toJS() };
	}),
);
const pods = manifests.filter(({ spec }) => spec?.template !== undefined);

function named(kind: string, name: string): Manifest {
	const found = manifests.find(
		(each) => each.kind === kind && each.metadata.name === name,
	);
	assert.ok(found, `no ${kind} ${name}`);
	return found;
}

/** What a container sees, by the ConfigMaps and Secrets that it names. */
function environmentOf({ env = [], envFrom }: Container) {
	const environment: Record<string, string> = {};
	for (const { configMapRef, secretRef } of envFrom) {
		if (configMapRef) {
			Object.assign(environment, named("ConfigMap", configMapRef.name).data);
		}
		if (secretRef) {
			Object.assign(environment, named("Secret", secretRef.name).stringData);
		}
	}
	for (const { name, value } of env) environment[name] = value;
	return environment;
}

describe("deploy/kubernetes", () => {
	it("has what a fleet needs", () => {
		assert.deepEqual(
			manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort(),
			[
				"ConfigMap corkboard-map",
				"ConfigMap corkboard-settings",
				"Deployment corkboard-api",
				"Deployment corkboard-controller",
				"Deployment corkboard-worker",
				"Job corkboard-init",
				"NetworkPolicy corkboard",
				"PodDisruptionBudget corkboard-api",
				"Secret corkboard",
				"Secret corkboard-ca",
				"Secret corkboard-mysql",
				"Secret corkboard-operator",
				"Service corkboard",
			],
		);
	});

	for (const { file, ...manifest } of manifests) {
		it(`${file}: ${manifest.kind} ${manifest.metadata.name} is what the API takes, and has no field that it does not know`, async () => {
			assert.deepEqual(await faultsOf(manifest), []);
		});
	}

	it("is checked: a missing field, a wrong type, a wrong value and an unknown field are found", async () => {
		const { file: _, ...api } = structuredClone(
			named("Deployment", "corkboard-api"),
		);
		const damaged = JSON.parse(
			JSON.stringify(api)
				.replace('"selector"', '"selectors"')
				.replace('"periodSeconds":10', '"periodSeconds":"10"')
				.replace('"image":', '"imagePullPolicy":"Sometimes","image":')
				.replace('"runAsNonRoot"', '"runAsNoRoot"'),
		);
		const faults = (await faultsOf(damaged)).join("\n");
		assert.match(faults, /^\/spec: .*selector/m);
		assert.match(faults, /^\/spec\/selectors: unknown/m);
		assert.match(faults, /periodSeconds: .*type/);
		assert.match(faults, /imagePullPolicy: .*enum/);
		assert.match(faults, /runAsNoRoot: unknown/);
	});

	it("selects the pods that it means", () => {
		for (const { file, kind, spec } of manifests) {
			const labels =
				spec?.podSelector?.matchLabels ??
				spec?.selector?.matchLabels ??
				(kind === "Service" ? spec.selector : undefined);
			if (labels === undefined) continue;
			const chosen = pods.filter((pod) =>
				Object.entries(labels).every(
					([name, value]) => pod.spec.template.metadata.labels[name] === value,
				),
			);
			if (kind === "NetworkPolicy") {
				assert.deepEqual(chosen, pods);
			} else {
				assert.equal(chosen.length, 1, `${file}: ${kind}`);
				assert.equal(chosen[0]?.file, file);
			}
		}
	});

	for (const pod of pods) {
		const { spec } = pod.spec.template;
		const [container] = spec.containers;
		const command = container.args[0];

		describe(pod.metadata.name, () => {
			it("runs a command that exists, with settings that are valid once the secrets are filled in", () => {
				assert.ok(COMMANDS.has(command), command);
				const config = readConfig({
					...environmentOf(container),
					CORKBOARD_SECRET: "s".repeat(32),
					CORKBOARD_REDIS: "rediss://:word@cache.example.com:6379",
				});
				assert.equal(config.admin?.port, 9464);
				assert.throws(
					() => readConfig(environmentOf(container)),
					/CORKBOARD_SECRET is missing/,
				);
			});

			it("runs as a user that kubelet takes, and writes to its own folder only", () => {
				const { runAsNonRoot, runAsUser } = spec.securityContext;
				assert.equal(runAsNonRoot, true);
				assert.equal(`${runAsUser}`, "1000");
				assert.match(fileText("Dockerfile"), /^USER 1000:1000$/m);
				const copy = environmentOf(container).CORKBOARD_TOPOLOGY_COPY ?? "";
				const writable = container.volumeMounts.find(({ mountPath }) =>
					copy.startsWith(`${mountPath}/`),
				);
				assert.equal(writable?.name, "copy");
			});

			it("mounts what exists, at the paths that its settings name", () => {
				const sources = new Map(
					spec.volumes.map(({ name, configMap, secret }) => [
						name,
						configMap
							? named("ConfigMap", configMap.name).data
							: secret
								? named("Secret", secret.secretName).stringData
								: {},
					]),
				);
				assert.deepEqual(
					container.volumeMounts.map(({ name }) => name).sort(),
					[...sources.keys()].sort(),
				);
				const files = container.volumeMounts.flatMap(({ name, mountPath }) =>
					Object.keys(sources.get(name) ?? {}).map(
						(file) => `${mountPath}/${file}`,
					),
				);
				const environment = environmentOf(container);
				for (const name of [
					"CORKBOARD_TOPOLOGY",
					"CORKBOARD_MYSQL_FILE",
					"CORKBOARD_ADMIN_FILE",
				]) {
					const path = environment[name] ?? "";
					if (!path.startsWith("/")) continue;
					assert.ok(files.includes(path), `${name}: ${path}`);
				}
			});

			it("leaves the heap about half of its memory", () => {
				const megabytes = Number(
					container.resources.limits.memory?.slice(0, -2),
				);
				const heap = environmentOf(container).NODE_OPTIONS?.split("=")[1];
				if (heap !== undefined) assert.ok(Number(heap) <= megabytes / 2);
			});

			it("is asked on its admin address", () => {
				const { livenessProbe, readinessProbe, startupProbe } = container;
				for (const probe of [livenessProbe, readinessProbe, startupProbe]) {
					if (probe === undefined) continue;
					assert.equal(probe.httpGet.port, "admin");
					const path =
						probe === readinessProbe ? "/health/ready" : "/health/live";
					assert.equal(probe.httpGet.path, path);
				}
			});
		});
	}

	it("has an example of a shard map that is taken", () => {
		const text = named("ConfigMap", "corkboard-map").data?.["topology.json"];
		checkTopology(JSON.parse(text ?? ""));
	});
});
