import { createHash } from "node:crypto";
import type {
	CompletedPart,
	ListMultipartUploadsCommandInput,
	ListMultipartUploadsCommandOutput,
	S3Client,
	S3ClientConfig,
} from "@aws-sdk/client-s3";
import { CorkboardError } from "../../errors.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import type { Chunks, DumpFiles, FilesOptions } from "./dumpFiles.ts";

type S3 = typeof import("@aws-sdk/client-s3");

/** A part of a larger file. A file has 10,000 at most: these are 160 GB. */
const PART_BYTES = 16 * 1024 * 1024;
/** How long nothing may come from the server. Milliseconds. */
const SILENCE_MS = 60_000;
const CONNECT_MS = 10_000;
/** How often the client sends a request before it gives up. */
const TRIES = 8;
/** Keys of one request that deletes. */
const DELETED = 1_000;

interface S3Options extends FilesOptions {
	readonly bucket: string;
	readonly prefix: string;
	readonly tries?: number;
	readonly partBytes?: number;
	readonly silenceMs?: number;
}

/** Throws BAD_CONFIG if the client is not installed, or no region is set. */
export async function openS3Files(options: S3Options): Promise<DumpFiles> {
	let s3: S3;
	try {
		s3 = await import("@aws-sdk/client-s3");
	} catch (cause) {
		throw new CorkboardError(
			"BAD_CONFIG",
			"s3:// needs the package @aws-sdk/client-s3, which is not installed. Install it beside corkboard: npm install @aws-sdk/client-s3@3.1175.0.",
			{ cause },
		);
	}
	const { endpoint, tries = TRIES, silenceMs = SILENCE_MS } = options;
	const config: S3ClientConfig = {
		maxAttempts: tries,
		requestHandler: {
			connectionTimeout: CONNECT_MS,
			requestTimeout: silenceMs,
			throwOnRequestTimeout: true,
		},
		// Servers that speak S3 do not all know the checksums that the client adds by itself.
		requestChecksumCalculation: "WHEN_REQUIRED",
		responseChecksumValidation: "WHEN_REQUIRED",
		...(endpoint !== null && {
			endpoint,
			forcePathStyle: true,
			region: process.env.AWS_REGION ?? "us-east-1",
		}),
	};
	return new S3Files(s3, new s3.S3Client(config), options);
}

/** The files of a dump below a prefix of a bucket. A file is there once its last request has succeeded. */
class S3Files implements DumpFiles {
	readonly name: string;
	readonly #s3: S3;
	readonly #client: S3Client;
	readonly #options: S3Options;

	constructor(s3: S3, client: S3Client, options: S3Options) {
		this.#s3 = s3;
		this.#client = client;
		this.#options = options;
		const { bucket, prefix } = options;
		this.name = `s3://${bucket}${prefix === "" ? "" : `/${prefix}`}`;
	}

	async put(name: string, chunks: Chunks): Promise<void> {
		const { partBytes = PART_BYTES } = this.#options;
		const parts = partsOf(chunks, partBytes);
		const first = await parts.next();
		const body = first.done ? Buffer.alloc(0) : first.value;
		if (body.length < partBytes) {
			await this.#translated(name, () =>
				this.#client.send(
					new this.#s3.PutObjectCommand({
						...this.#key(name),
						...this.#encryption(),
						Body: body,
						ContentLength: body.length,
						ContentMD5: md5(body),
					}),
				),
			);
			return;
		}
		await this.#putParts(name, body, parts);
	}

	async #putParts(
		name: string,
		first: Buffer,
		others: AsyncIterator<Buffer>,
	): Promise<void> {
		const { UploadId } = await this.#translated(name, () =>
			this.#client.send(
				new this.#s3.CreateMultipartUploadCommand({
					...this.#key(name),
					...this.#encryption(),
				}),
			),
		);
		const upload = { ...this.#key(name), UploadId };
		try {
			const done: CompletedPart[] = [];
			const hashes: Buffer[] = [];
			let bytes = 0;
			for (
				let part: Buffer | undefined = first;
				part !== undefined;
				part = await nextPart(others)
			) {
				const body = part;
				const PartNumber = done.length + 1;
				const { ETag } = await this.#translated(name, () =>
					this.#client.send(
						new this.#s3.UploadPartCommand({
							...upload,
							PartNumber,
							Body: body,
							ContentLength: body.length,
							ContentMD5: md5(body),
						}),
					),
				);
				done.push({ PartNumber, ETag });
				hashes.push(createHash("md5").update(body).digest());
				bytes += body.length;
			}
			try {
				await this.#client.send(
					new this.#s3.CompleteMultipartUploadCommand({
						...upload,
						MultipartUpload: { Parts: done },
					}),
				);
			} catch (thrown) {
				// Completed by a request whose answer was lost, and which the client has repeated.
				const isDone =
					(thrown as Error).name === "NoSuchUpload" &&
					(await this.#isThere(name, bytes, etagOf(hashes)));
				if (!isDone) throw this.#asError(name, thrown);
			}
		} catch (thrown) {
			// Parts that nobody completes cost money. `removeHalves` finds those that stay.
			await this.#client
				.send(new this.#s3.AbortMultipartUploadCommand(upload))
				.catch(() => {});
			throw thrown;
		}
	}

	/** Whether a file of these parts is there. A key of KMS makes the tag of a file another one. */
	async #isThere(name: string, bytes: number, etag: string): Promise<boolean> {
		const found = await this.#translated(name, () =>
			this.#client.send(new this.#s3.HeadObjectCommand(this.#key(name))),
		);
		return (
			found.ContentLength === bytes &&
			(found.ETag?.replaceAll('"', "") === etag ||
				found.ServerSideEncryption === "aws:kms")
		);
	}

	async read(name: string): Promise<AsyncIterable<Uint8Array> | null> {
		try {
			const { Body } = await this.#client.send(
				new this.#s3.GetObjectCommand(this.#key(name)),
			);
			return this.#reading(name, Body as unknown as AsyncIterable<Uint8Array>);
		} catch (thrown) {
			if ((thrown as Error).name === "NoSuchKey") return null;
			throw this.#asError(name, thrown);
		}
	}

	async *#reading(
		name: string,
		body: AsyncIterable<Uint8Array>,
	): AsyncGenerator<Uint8Array> {
		try {
			yield* body;
		} catch (thrown) {
			throw this.#asError(name, thrown);
		}
	}

	async list(prefix: string): Promise<readonly string[]> {
		const names: string[] = [];
		const { Bucket, Key: Prefix } = this.#key(prefix);
		let ContinuationToken: string | undefined;
		do {
			const page = await this.#translated(prefix, () =>
				this.#client.send(
					new this.#s3.ListObjectsV2Command({
						Bucket,
						Prefix,
						...(ContinuationToken !== undefined && { ContinuationToken }),
					}),
				),
			);
			for (const { Key } of page.Contents ?? []) {
				if (Key !== undefined) names.push(this.#nameOf(Key));
			}
			ContinuationToken = page.NextContinuationToken;
		} while (ContinuationToken !== undefined);
		return names;
	}

	async remove(names: readonly string[]): Promise<void> {
		for (let at = 0; at < names.length; at += DELETED) {
			const some = names.slice(at, at + DELETED);
			const { Errors = [] } = await this.#translated(some[0] as string, () =>
				this.#client.send(
					new this.#s3.DeleteObjectsCommand({
						Bucket: this.#options.bucket,
						Delete: {
							Quiet: true,
							Objects: some.map((name) => ({ Key: this.#key(name).Key })),
						},
					}),
				),
			);
			const [failed] = Errors;
			if (failed !== undefined) {
				throw new CorkboardError(
					"UNAVAILABLE",
					`${this.name}: ${failed.Key} cannot be removed: ${failed.Code}. The account needs s3:DeleteObject there.`,
				);
			}
		}
	}

	async removeHalves(): Promise<void> {
		const { Bucket, Key: Prefix } = this.#key("");
		let markers: { KeyMarker?: string; UploadIdMarker?: string } = {};
		for (;;) {
			const page = await this.#uploads({ Bucket, Prefix, ...markers });
			for (const { Key, UploadId } of page?.Uploads ?? []) {
				if (Key === undefined || UploadId === undefined) continue;
				const upload = { Bucket, Key, UploadId };
				try {
					await this.#client.send(
						new this.#s3.AbortMultipartUploadCommand(upload),
					);
				} catch (thrown) {
					if ((thrown as Error).name !== "NoSuchUpload")
						throw this.#asError(this.#nameOf(Key), thrown);
				}
			}
			if (page?.IsTruncated !== true || page.NextKeyMarker === undefined)
				return;
			const { NextKeyMarker, NextUploadIdMarker } = page;
			markers = {
				KeyMarker: NextKeyMarker,
				...(NextUploadIdMarker !== undefined && {
					UploadIdMarker: NextUploadIdMarker,
				}),
			};
		}
	}

	/** Null if the server cannot list what is under way: then it stays until the bucket's own rules remove it. */
	async #uploads(
		asked: ListMultipartUploadsCommandInput,
	): Promise<ListMultipartUploadsCommandOutput | null> {
		try {
			return await this.#client.send(
				new this.#s3.ListMultipartUploadsCommand(asked),
			);
		} catch (thrown) {
			if (UNKNOWN.has((thrown as Error).name)) return null;
			throw this.#asError("", thrown);
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#client.destroy();
	}

	#key(name: string): { readonly Bucket: string; readonly Key: string } {
		const { bucket, prefix } = this.#options;
		return { Bucket: bucket, Key: prefix === "" ? name : `${prefix}/${name}` };
	}

	#nameOf(key: string): string {
		const { prefix } = this.#options;
		return prefix === "" ? key : key.slice(prefix.length + 1);
	}

	#encryption() {
		const { sse } = this.#options;
		if (sse === null) return {};
		const [, key] = /^aws:kms:(.+)$/.exec(sse) ?? [];
		return key === undefined
			? { ServerSideEncryption: sse as "AES256" | "aws:kms" }
			: { ServerSideEncryption: "aws:kms" as const, SSEKMSKeyId: key };
	}

	async #translated<T>(name: string, call: () => Promise<T>): Promise<T> {
		try {
			return await call();
		} catch (thrown) {
			throw this.#asError(name, thrown);
		}
	}

	#asError(name: string, thrown: unknown): CorkboardError {
		if (thrown instanceof CorkboardError) return thrown;
		const { name: kind } = thrown as Error;
		const advice = ADVICE[kind];
		const what = name === "" ? this.name : `${this.name}/${name}`;
		return new CorkboardError(
			CONFIGURED.has(kind) ? "BAD_CONFIG" : "UNAVAILABLE",
			`${what}: ${kind}${advice === undefined ? `: ${reasonOf(thrown)}. Run it again.` : `: ${advice}.`}`,
			{ cause: thrown },
		);
	}
}

/** What servers say that know less than AWS's. */
const UNKNOWN: ReadonlySet<string> = new Set([
	"NotImplemented",
	"MethodNotAllowed",
]);

const ADVICE: Readonly<Record<string, string>> = {
	NoSuchBucket: "there is no such bucket, and a dump creates none",
	AccessDenied:
		"the account may not: it needs s3:PutObject, s3:GetObject, s3:ListBucket, s3:DeleteObject, s3:ListBucketMultipartUploads and s3:AbortMultipartUpload",
	CredentialsProviderError:
		"no account was found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or give the machine a role",
	InvalidAccessKeyId: "the account's key is not known there",
	SignatureDoesNotMatch: "the account's secret is another one",
	ExpiredToken:
		"the account's token has expired: get another one, and run it again",
	PermanentRedirect: "the bucket is in another region: set AWS_REGION",
	AuthorizationHeaderMalformed:
		"the bucket is in another region: set AWS_REGION",
};
const CONFIGURED: ReadonlySet<string> = new Set(Object.keys(ADVICE));

function md5(body: Buffer): string {
	return createHash("md5").update(body).digest("base64");
}

/** The tag that S3 gives a file of parts. */
function etagOf(hashes: readonly Buffer[]): string {
	const hash = createHash("md5").update(Buffer.concat(hashes)).digest("hex");
	return `${hash}-${hashes.length}`;
}

async function nextPart(parts: AsyncIterator<Buffer>) {
	const { done, value } = await parts.next();
	return done ? undefined : value;
}

/** The bytes in parts of one length, but for the last. */
async function* partsOf(
	chunks: Chunks,
	length: number,
): AsyncGenerator<Buffer> {
	let waiting: Uint8Array[] = [];
	let bytes = 0;
	for await (const chunk of chunks) {
		waiting.push(chunk);
		bytes += chunk.length;
		if (bytes < length) continue;
		let all = Buffer.concat(waiting);
		while (all.length >= length) {
			yield all.subarray(0, length);
			all = all.subarray(length);
		}
		waiting = [all];
		bytes = all.length;
	}
	if (bytes > 0) yield Buffer.concat(waiting);
}
