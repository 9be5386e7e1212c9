interface Fault {
	readonly instancePath: string;
	readonly keyword: string;
	readonly params: object;
}

interface Validate {
	(data: unknown): boolean;
	readonly errors?: readonly Fault[] | null;
}

/** How the names of schemas begin. The group `core` has none in `apiVersion`. */
const GROUPS: Readonly<Record<string, string>> = {
	v1: "IoK8sApiCoreV1",
	"apps/v1": "IoK8sApiAppsV1",
	"batch/v1": "IoK8sApiBatchV1",
	"networking.k8s.io/v1": "IoK8sApiNetworkingV1",
	"policy/v1": "IoK8sApiPolicyV1",
};

/**
 * What the Kubernetes API does not take of a manifest, by the schemas that it
 * publishes. These allow unknown fields, which the API server drops or refuses. A
 * validator reads every field that it knows, so that what it has not read is unknown.
 */
export async function faultsOf(manifest: object): Promise<readonly string[]> {
	const { apiVersion = "", kind = "" } = manifest as Record<string, string>;
	const group = GROUPS[apiVersion];
	if (group === undefined) return [`/apiVersion: unknown: ${apiVersion}`];
	// A computed name: the package has no types for these modules.
	const module = `kubernetes-models/_schemas/${group}${kind}`;
	const { validate } = (await import(module)) as {
		readonly validate: Validate;
	};
	const unread = new Set<string>();
	const isValid = validate(watched(manifest, "", unread));
	const faults = isValid ? [] : (validate.errors ?? []);
	return [
		...faults.map(
			({ instancePath, keyword, params }) =>
				`${instancePath}: ${keyword} ${JSON.stringify(params)}`,
		),
		...[...unread].map((path) => `${path}: unknown`),
	];
}

/** The value, whose fields are in `unread` until they are read. */
function watched(value: unknown, path: string, unread: Set<string>): unknown {
	if (typeof value !== "object" || value === null) return value;
	const copy: Record<string, unknown> | unknown[] = Array.isArray(value)
		? []
		: {};
	for (const [name, field] of Object.entries(value)) {
		const at = `${path}/${name}`;
		if (!Array.isArray(value)) unread.add(at);
		const child = watched(field, at, unread);
		Object.defineProperty(copy, name, {
			enumerable: true,
			get() {
				unread.delete(at);
				return child;
			},
		});
	}
	return copy;
}
