import { randomUUID } from "node:crypto";
import {
	GetObjectCommand,
	PutObjectCommand,
	S3Client,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { encode } from "blurhash";
import {
	type BatchResolver,
	GiveUp,
	type Id,
	integer,
	type JobContext,
	job,
	mutation,
	oneOf,
	type RequestContext,
	required,
} from "corkboard";
import sharp from "sharp";
import { z } from "zod";

/** Where pictures are kept. */
export interface UploadStore {
	readonly client: S3Client;
	readonly bucket: string;
	/** What the address of each picture begins with: of the bucket, or of the CDN before it. */
	readonly publicUrl: string;
}

const TYPES = ["image/jpeg", "image/png", "image/webp", "image/avif"] as const;
const MAX_BYTES = 10 * 1024 * 1024;
/** A small file may unpack to a huge picture. */
const MAX_PIXELS = 50_000_000;
const EXPIRES_IN_S = 300;
/** How long the store may take to send a picture. */
const READ_MS = 30_000;

/** The store that the environment names; credentials come from where the AWS SDK looks for them. */
export function uploadStore(env: NodeJS.ProcessEnv): UploadStore {
	const { UPLOAD_BUCKET: bucket, UPLOAD_PUBLIC_URL: publicUrl } = env;
	if (!bucket || !publicUrl) {
		throw new Error("Set UPLOAD_BUCKET and UPLOAD_PUBLIC_URL.");
	}
	const client = new S3Client({
		...(env.UPLOAD_ENDPOINT && {
			endpoint: env.UPLOAD_ENDPOINT,
			forcePathStyle: true,
		}),
		// By default the SDK would sign the checksum of an empty body.
		requestChecksumCalculation: "WHEN_REQUIRED",
	});
	return { client, bucket, publicUrl };
}

/** Signs one PUT. The signature holds for this type and this size alone. */
export function createImageUpload({
	client,
	bucket,
	publicUrl,
}: UploadStore): BatchResolver<RequestContext> {
	return mutation(
		{
			name: "createImageUpload",
			input: () => ({
				contentType: required(oneOf(...TYPES)),
				size: required(integer(1, MAX_BYTES)),
			}),
			cost: () => 0,
		},
		async ({ contentType, size }, { viewer }) => {
			const key = `${viewer}/${randomUUID()}`;
			const command = new PutObjectCommand({
				Bucket: bucket,
				Key: key,
				ContentType: contentType,
				ContentLength: size,
			});
			const uploadUrl = await getSignedUrl(client, command, {
				expiresIn: EXPIRES_IN_S,
				// The presigner leaves the type out unless it is named.
				signableHeaders: new Set(["content-type", "content-length", "host"]),
			});
			return { uploadUrl, url: `${publicUrl}/${key}` };
		},
	);
}

const READ_PIN =
	"query ($id: ID!) { node(id: $id) { ... on Pin { image { url alt } } } }";
const UPDATE_PIN =
	"mutation ($input: UpdatePinInput!) { updatePin(input: $input) { pin { id } } }";

interface PinImage {
	readonly url: string;
	readonly alt: string | null;
}

/** Keeps the size and a BlurHash of an uploaded picture with its pin. It reads and writes as the pin's owner. */
export function readImage({ client, bucket, publicUrl }: UploadStore) {
	return job({
		queue: "readImage",
		body: z.object({ pin: z.string(), owner: z.string() }),
		attempts: 5,
		maxRunMs: 2 * READ_MS,
		async run({ body, signal }, { query }: JobContext) {
			const viewer = body.owner as Id;
			const imageOf = async (): Promise<PinImage | null> => {
				const { data } = await query(READ_PIN, {
					viewer,
					variables: { id: body.pin },
				});
				const { node } = data as {
					readonly node: { readonly image: PinImage | null } | null;
				};
				return node?.image ?? null;
			};
			const image = await imageOf();
			// Deleted meanwhile, or a picture of another place.
			if (image === null || !image.url.startsWith(`${publicUrl}/`)) return;
			const { Body, ContentLength = 0 } = await client.send(
				new GetObjectCommand({
					Bucket: bucket,
					Key: image.url.slice(publicUrl.length + 1),
				}),
				{
					abortSignal: AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]),
				},
			);
			if (ContentLength > MAX_BYTES) throw new GiveUp("The file is too large.");
			const bytes = await Body?.transformToByteArray();
			const read = await measured(bytes ?? new Uint8Array());
			// Another picture was put there while this one was read: its own job follows.
			if ((await imageOf())?.url !== image.url) return;
			const { width, height, imageBlurhash } = read;
			const { errors } = await query(UPDATE_PIN, {
				viewer,
				variables: {
					input: {
						pinId: body.pin,
						image: { ...image, width, height },
						imageBlurhash,
					},
				},
			});
			if (errors) throw new Error(JSON.stringify(errors));
		},
	});
}

/** Throws GiveUp for a file that is no picture. */
async function measured(bytes: Uint8Array): Promise<{
	readonly width: number;
	readonly height: number;
	readonly imageBlurhash: string;
}> {
	try {
		// Turned as the camera says, so that width and height are those that people see.
		const upright = sharp(bytes, { limitInputPixels: MAX_PIXELS }).rotate();
		const { info } = await upright
			.clone()
			.toBuffer({ resolveWithObject: true });
		const small = await upright
			.resize(32, 32, { fit: "inside" })
			.ensureAlpha()
			.raw()
			.toBuffer({ resolveWithObject: true });
		return {
			width: info.width,
			height: info.height,
			imageBlurhash: encode(
				new Uint8ClampedArray(small.data),
				small.info.width,
				small.info.height,
				4,
				3,
			),
		};
	} catch (cause) {
		throw new GiveUp(`The file is no picture: ${String(cause)}`);
	}
}

/** A mutation of pins whose pictures are read by a job afterwards. */
export function withImage(
	change: BatchResolver<RequestContext>,
	kind: ReturnType<typeof readImage>,
): BatchResolver<RequestContext> {
	return {
		...change,
		async resolve(request) {
			const payloads = await change.resolve(request);
			const { jobs, viewer } = request.context;
			const { input } = request.args as {
				readonly input?: {
					readonly image?: unknown;
					readonly imageBlurhash?: unknown;
				};
			};
			// The job itself, or a client that knows what the job would find out.
			if (!input?.image || input.imageBlurhash) return payloads;
			for (const payload of payloads) {
				const pin = (payload as { readonly pin?: unknown } | null)?.pin;
				if (typeof pin !== "string" || !viewer) continue;
				// The pin is there. Without the job its picture lacks the size, and nothing else.
				await jobs
					?.enqueue(kind, { pin, owner: viewer }, { key: pin })
					.catch(() => {});
			}
			return payloads;
		},
	};
}
