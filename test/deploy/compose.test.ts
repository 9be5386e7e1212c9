import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { readConfig } from "../../src/config/config.ts";
import { parseHostUrl } from "../../src/topology/hostUrl.ts";
import { readTopology } from "../../src/topology/parseTopology.ts";
import {
	type Compose,
	fileText,
	mountOf,
	ROOT,
	readCompose,
	type Service,
	serviceOf,
} from "./composeFile.ts";
import { imageOf, instructionsOf, listOf } from "./dockerfile.ts";

const compose = readCompose();
const { services } = compose;
const image = imageOf(instructionsOf(fileText("Dockerfile")));
const api = serviceOf(compose, "api");
const SECRET = "x".repeat(32);
const PRIMARIES = ["mysql-a", "mysql-b"];
/** The services of the profile `monitoring`. */
const MONITORING = ["collector", "grafana", "jaeger", "prometheus"];
/** Their images have nothing that could ask. */
const WITHOUT_SHELL = ["collector", "jaeger"];
const REPLICAS = ["mysql-a-replica", "mysql-b-replica"];

/** What the container sees, with nothing set outside. */
function environmentOf({ environment = {} }: Service): Record<string, string> {
	return Object.fromEntries(
		Object.entries(environment).flatMap(([name, value]) =>
			value === null ? [] : [[name, value]],
		),
	);
}

/** The file of ours that a service sees at a path. */
function mountedAt(service: Service, path: string): string {
	for (const { source, target } of (service.volumes ?? []).map(mountOf)) {
		if (path === target) return source;
		if (path.startsWith(`${target}/`)) {
			return `${source}${path.slice(target.length)}`;
		}
	}
	throw new Error(`expected a mount for ${path} but got: none`);
}

describe("docker-compose.yml", () => {
	test("pins every image to a version, except the one it builds", () => {
		for (const [name, service] of Object.entries(services)) {
			if (service.build !== undefined) {
				assert.equal(service.build, ".", name);
				continue;
			}
			assert.match(
				service.image,
				/^[a-z]+(\/[a-z]+(-[a-z]+)*)?:v?\d+\.\d+\.\d+(-[a-z]+)?$/,
				name,
			);
		}
		for (const name of [...PRIMARIES, ...REPLICAS]) {
			const [major = 0, minor = 0] = serviceOf(compose, name)
				.image.replace("mysql:", "")
				.split(".")
				.map(Number);
			assert.ok(
				major > 8 || (major === 8 && minor >= 4),
				"expected MySQL 8.4 or later",
			);
		}
	});

	test("gives the API valid settings, and a secret only from outside", () => {
		assert.equal(api.environment?.CORKBOARD_SECRET, null);
		for (const service of [api, serviceOf(compose, "tables")]) {
			const environment = environmentOf(service);
			assert.throws(
				() => readConfig(environment),
				/CORKBOARD_SECRET is missing/,
			);
			const config = readConfig({ ...environment, CORKBOARD_SECRET: SECRET });
			assert.equal(config.mode, "production");
			assert.equal(config.host, "0.0.0.0");
			assert.deepEqual(config.memcached, ["memcached:11211"]);
			assert.equal(config.redis, "redis://redis:6379");
			assert.equal(config.store.kind, "topology");
		}
		// What may be given from outside is a setting, too: another name is a fault.
		const outside = Object.fromEntries(
			Object.entries(api.environment ?? {}).map(([name, value]) => [
				name,
				value ?? "",
			]),
		);
		readConfig({ ...outside, CORKBOARD_SECRET: SECRET });
	});

	test("publishes only the API, on the image's port, and what watches it, on this machine", () => {
		const port = readConfig({
			...environmentOf(api),
			CORKBOARD_SECRET: SECRET,
		}).port;
		assert.deepEqual(
			Object.entries(services).flatMap(([name, { ports = [] }]) =>
				ports.map((published) => `${name} ${published}`),
			),
			[
				`api 127.0.0.1:${port}:${port}`,
				"prometheus 127.0.0.1:9090:9090",
				"jaeger 127.0.0.1:16686:16686",
				"grafana 127.0.0.1:3000:3000",
			],
		);
		assert.deepEqual(
			image.filter(({ name }) => name === "EXPOSE"),
			[{ name: "EXPOSE", text: String(port) }],
		);
	});

	test("mounts the folder of a topology of its own MySQL servers, read-only", () => {
		const { store } = readConfig({
			...environmentOf(api),
			CORKBOARD_SECRET: SECRET,
		});
		assert.ok(store.kind === "topology");
		const file = mountedAt(api, store.name);
		assert.ok(
			api.volumes?.some(
				(volume) =>
					volume ===
					`./deploy/topology:${store.name.replace(/\/[^/]*$/, "")}:ro`,
			),
		);
		const { shards, lookups } = readTopology(join(ROOT, file));
		const urls = [...shards, ...lookups].map(({ primary, replica }) => [
			parseHostUrl(primary),
			parseHostUrl(replica ?? ""),
		]);
		for (const pair of urls) {
			for (const url of pair) {
				assert.ok(url?.scheme === "mysql");
				assert.ok(url.host in services, `no service ${url.host}`);
				assert.equal(url.port, 3306);
			}
		}
		const names = urls.map((pair) =>
			pair.map((url) => (url?.scheme === "mysql" ? url.host : null)).join(" "),
		);
		const pairs = PRIMARIES.map((name, n) => `${name} ${REPLICAS[n]}`);
		assert.deepEqual(names, [...pairs, ...pairs]);
		assert.ok(shards.every(({ open }) => open));
	});

	test("mounts only existing files and declared volumes", () => {
		const named = new Set<string>();
		for (const [name, { volumes = [] }] of Object.entries(services)) {
			for (const { source, mode } of volumes.map(mountOf)) {
				if (source.startsWith("./")) {
					assert.ok(existsSync(join(ROOT, source)), `${name}: no ${source}`);
					assert.equal(mode, "ro", `${name}: ${source}`);
				} else {
					named.add(source);
				}
			}
		}
		assert.deepEqual(
			[...named].toSorted(),
			Object.keys(compose.volumes).toSorted(),
		);
	});

	test("checks the health of all long-running services, and restarts them", () => {
		const once = ["secret", "tables"];
		for (const [name, service] of Object.entries(services)) {
			if (once.includes(name)) {
				assert.equal(service.restart, undefined, name);
				assert.equal(service.healthcheck?.disable, true, name);
				continue;
			}
			assert.equal(service.restart, "unless-stopped", name);
			if (WITHOUT_SHELL.includes(name)) {
				assert.equal(service.healthcheck?.disable, true, name);
			} else if (service.build === undefined) {
				assert.ok(service.healthcheck?.test, `${name} has no health check`);
			} else {
				// The image brings its own.
				assert.equal(service.healthcheck, undefined);
				assert.ok(image.some((each) => each.name === "HEALTHCHECK"));
			}
		}
	});

	test("starts the API after its tables and caches, and those after their servers and the secret", () => {
		const conditions = (name: string) =>
			Object.fromEntries(
				Object.entries(serviceOf(compose, name).depends_on ?? {}).map(
					([other, { condition }]) => [other, condition],
				),
			);
		assert.deepEqual(conditions("api"), {
			tables: "service_completed_successfully",
			memcached: "service_healthy",
			redis: "service_healthy",
		});
		assert.deepEqual(conditions("tables"), {
			secret: "service_completed_successfully",
			"mysql-a": "service_healthy",
			"mysql-b": "service_healthy",
		});
	});

	test("generates the secret where the image reads it, in a volume of the API", () => {
		const [shell, script, flag, launcher] = listOf(image, "ENTRYPOINT");
		const { entrypoint = [], volumes } = serviceOf(compose, "secret");
		const file = entrypoint[2] as string;
		assert.deepEqual(entrypoint, ["node", "deploy/secret.mjs", file]);
		assert.deepEqual([shell, script], ["/bin/sh", "src/cli/node.sh"]);
		assert.equal(flag, `--env-file-if-exists=${file}`);
		assert.equal(launcher, "src/cli/launch.mjs");
		assert.deepEqual(volumes, api.volumes);
		assert.equal(mountedAt(api, file), "state/secret.env");
	});

	test("starts Prometheus and Grafana only with the profile monitoring, on the API's metrics", () => {
		for (const [name, { profiles }] of Object.entries(services)) {
			const expected = MONITORING.includes(name) ? ["monitoring"] : undefined;
			assert.deepEqual(profiles, expected, name);
		}
		const { admin } = readConfig({
			...environmentOf(api),
			CORKBOARD_SECRET: SECRET,
		});
		assert.equal(admin?.host, "0.0.0.0");
		const prometheus = serviceOf(compose, "prometheus");
		const [config = ""] = prometheus.command;
		const file = mountedAt(prometheus, config.replace("--config.file=", ""));
		const { scrape_configs: scrapes } = parse(fileText(file));
		assert.deepEqual(scrapes[0].static_configs, [
			{ targets: [`api:${admin?.port}`] },
		]);
		const grafana = serviceOf(compose, "grafana");
		const provisioned = (path: string) =>
			parse(fileText(mountedAt(grafana, `/etc/grafana/provisioning/${path}`)));
		const [source] = provisioned("datasources/corkboard.yml").datasources;
		assert.equal(source.url, "http://prometheus:9090");
		const [provider] = provisioned("dashboards/corkboard.yml").providers;
		const home = environmentOf(grafana)
			.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH as string;
		assert.ok(home.startsWith(`${provider.options.path}/`));
		assert.ok(existsSync(join(ROOT, mountedAt(grafana, home))));
	});

	test("has a collector that takes what the API sends, and keeps what `CORKBOARD_SLOW` calls slow", () => {
		const collector = serviceOf(compose, "collector");
		const [option = ""] = collector.command;
		const { receivers, processors, exporters, service } = parse(
			fileText(mountedAt(collector, option.replace("--config=", ""))),
		);
		const { traces, slowMs } = readConfig({
			...environmentOf(api),
			CORKBOARD_SECRET: SECRET,
			OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
		});
		assert.equal(traces?.url, "http://collector:4318/v1/traces");
		assert.equal(traces?.sampler.ratio, 1);
		assert.equal(receivers.otlp.protocols.http.endpoint, "0.0.0.0:4318");
		assert.equal(exporters.otlp.endpoint, "jaeger:4317");
		const { policies } = processors.tail_sampling;
		assert.deepEqual(policies[0], {
			name: "slow",
			type: "latency",
			latency: { threshold_ms: slowMs },
		});
		// What a pipeline names is there, and all that is there is used.
		const {
			receivers: from,
			processors: by,
			exporters: to,
		} = service.pipelines.traces;
		assert.deepEqual(from, Object.keys(receivers));
		assert.deepEqual(by, Object.keys(processors));
		assert.deepEqual(to, Object.keys(exporters));
	});
});

describe("docker-compose.zookeeper.yml", () => {
	const added: Compose = parse(fileText("docker-compose.zookeeper.yml"), {
		merge: true,
	});

	test("keeps the shard map in a ZooKeeper of its own, published before the tables are made", () => {
		const { location, copy } = (() => {
			const { store } = readConfig({
				...environmentOf(api),
				...environmentOf(serviceOf(added, "api")),
				CORKBOARD_SECRET: SECRET,
			});
			assert.ok(store.kind === "topology");
			return store;
		})();
		assert.ok(location.scheme === "zk");
		assert.deepEqual(location.servers, ["zookeeper:2181"]);
		assert.equal(mountedAt(api, copy), "state/topology.kept");
		const publisher = serviceOf(added, "topology");
		const file = publisher.command[2] as string;
		assert.equal(mountedAt(publisher, file), "./deploy/topology/topology.json");
		assert.ok(publisher.command.includes("--initial"));
		const { depends_on: before = {} } = serviceOf(added, "tables");
		assert.deepEqual(Object.keys(before), ["topology"]);
		const zookeeper = serviceOf(added, "zookeeper");
		assert.match(zookeeper.image, /^zookeeper:3\.9\.\d+$/);
		assert.ok(zookeeper.healthcheck?.test);
		assert.doesNotMatch(fileText("docker-compose.zookeeper.yml"), /\$\{/);
	});
});
