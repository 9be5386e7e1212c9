import cluster from "node:cluster";
import { AggregatorRegistry, type Registry } from "prom-client";

/** What a worker counted, as prom-client passes it on. */
type Counted = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

interface Question {
	readonly kind: "corkboard metrics wanted";
	readonly number: number;
}

interface Answer {
	readonly kind: "corkboard metrics";
	/** The number of the question. */
	readonly number: number;
	readonly metrics: Counted;
}

/** In a worker: answers the primary. */
export function shareWithPrimary(registry: Registry): void {
	process.on("message", (message) => {
		const { kind, number } = message as Question;
		if (kind !== "corkboard metrics wanted") return;
		void registry.getMetricsAsJSON().then(
			(metrics) => {
				const answer: Answer = { kind: "corkboard metrics", number, metrics };
				// It may have disconnected meanwhile.
				if (process.connected) process.send?.(answer);
			},
			// The primary takes what it had of this worker.
			() => {},
		);
	});
}

/** How the primary reaches its workers. */
interface WorkerLinks {
	/** Those that are connected. */
	ids(): readonly number[];
	ask(id: number, question: Question): void;
	onAnswer(listener: (id: number, answer: unknown) => void): void;
	onEnd(listener: (id: number) => void): void;
}

const CLUSTER: WorkerLinks = {
	ids: () =>
		Object.values(cluster.workers ?? {}).flatMap((worker) =>
			worker?.isConnected() ? [worker.id] : [],
		),
	// Without a listener, the error of one that was just killed would end the primary.
	ask: (id, question) => void cluster.workers?.[id]?.send(question, () => {}),
	onAnswer: (listener) =>
		cluster.on("message", ({ id }, message) => listener(id, message)),
	onEnd: (listener) => cluster.on("exit", ({ id }) => listener(id)),
};

/** A busy worker answers late; a scrape does not wait for it. Milliseconds. */
const DEADLINE_MS = 3_000;

/**
 * In the primary: the metrics of all workers together, summed up if nothing
 * else is said. No counter may fall: Prometheus would think that it began again at 0,
 * and count the sum of the other workers once more. So what a worker counted until its
 * last answer is kept when it ends, or does not answer in time.
 */
export function openWorkersMetrics(
	links: WorkerLinks = CLUSTER,
	deadlineMs = DEADLINE_MS,
): () => Promise<{
	readonly contentType: string;
	readonly text: string;
}> {
	/** By worker. */
	const last = new Map<number, Counted>();
	const pending = new Map<number, Map<number, (metrics: Counted) => void>>();
	/** What workers that have ended counted. */
	let ended: Counted = [];
	/** What they sent before may be read after their end, and would count once more. */
	const gone = new Set<number>();
	let questions = 0;

	links.onAnswer((id, message) => {
		const { kind, number, metrics } = message as Answer;
		if (kind !== "corkboard metrics" || gone.has(id)) return;
		last.set(id, metrics);
		pending.get(number)?.get(id)?.(metrics);
	});
	links.onEnd((id) => {
		gone.add(id);
		const metrics = last.get(id);
		if (metrics === undefined) return;
		last.delete(id);
		ended = [...ended, ...countersOf(metrics)];
	});

	return async () => {
		// What has ended becomes one.
		ended = await together([ended]).getMetricsAsJSON();
		const number = questions++;
		const waiting = new Map<number, (metrics: Counted) => void>();
		pending.set(number, waiting);
		const answers = new Map<number, Counted>();
		const { promise, resolve } = Promise.withResolvers<void>();
		const timer = setTimeout(resolve, deadlineMs);
		const ids = links.ids();
		for (const id of ids) {
			waiting.set(id, (metrics) => {
				answers.set(id, metrics);
				if (answers.size === ids.length) resolve();
			});
			links.ask(id, { kind: "corkboard metrics wanted", number });
		}
		if (ids.length === 0) resolve();
		await promise;
		clearTimeout(timer);
		pending.delete(number);
		const silent = [...last].filter(([id]) => !answers.has(id));
		const registry = together([
			...answers.values(),
			...silent.map(([, metrics]) => countersOf(metrics)),
			ended,
		]);
		return {
			contentType: registry.contentType,
			text: await registry.metrics(),
		};
	};
}

function together(counted: readonly Counted[]): Registry {
	return AggregatorRegistry.aggregate([...counted]);
}

/** What a worker counts itself, which only rises. What another server counts may start from 0 again. */
function countersOf(metrics: Counted): Counted {
	return metrics.filter(
		({ type, aggregator }) =>
			/^(counter|histogram)$/.test(`${type}`) && aggregator === "sum",
	);
}
