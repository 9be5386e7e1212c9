import type { Id } from "../../id/ids.ts";
import { joinId, splitId } from "../../id/idWords.ts";
import type { Position } from "../../storage/rows.ts";

/*
 * Edges of a list as one text, the same in Redis and in the process. They are alike:
 * mostly their ids have one type, often one shard, and their sequences are times. So
 * the text begins with the least of each, and an edge has by how much it is above
 * these, in as many letters as the greatest one needs:
 *
 *     how many letters these are 3 · least shard 3 · least rest of an id 7 · least sequence 8
 *     then by edge: shard 0 to 3 · rest of the id 0 to 7 · sequence 0 to 8
 *
 * A letter holds seven bits, so that the text is ASCII: V8 keeps a byte for each
 * letter, never looks into it when it collects garbage, and a cache server gets and
 * sends it as it is.
 */

/** The edges, in that order. */
export function packEdges(edges: readonly Position[]): string {
	const { length } = edges;
	if (length === 0) return "";
	if (length > shards.length) makeRoom(length);
	for (let edge = 0; edge < length; edge++) {
		const { to, sequence } = edges[edge] as Position;
		if (!splitId(to, WORDS)) {
			throw new TypeError(`An edge leads to ${to}, which is no id.`);
		}
		shards[edge] = shardIn(WORDS);
		rests[edge] = restIn(WORDS);
		sequences[edge] = sequence;
	}
	const leastShard = leastOf(shards, length);
	const leastRest = leastOf(rests, length);
	const leastSequence = leastOf(sequences, length);
	const shardLetters = lettersFor(mostOf(shards, length) - leastShard);
	const range = mostOf(sequences, length) - leastSequence;
	const sequenceLetters =
		range < FARTHEST ? lettersFor(range) : ABSOLUTE_LETTERS;
	let restLetters = lettersFor(mostOf(rests, length) - leastRest);
	// An edge has a letter, so that their number follows from the length.
	if (shardLetters + sequenceLetters === 0) restLetters ||= 1;
	scratch[0] = shardLetters;
	scratch[1] = restLetters;
	scratch[2] = sequenceLetters;
	let at = write(LEAST_SHARD, leastShard, 3);
	at = write(at, leastRest, 7);
	at = writeSequence(at, leastSequence);
	for (let edge = 0; edge < length; edge++) {
		at = write(at, (shards[edge] as number) - leastShard, shardLetters);
		at = write(at, (rests[edge] as number) - leastRest, restLetters);
		const sequence = sequences[edge] as number;
		at =
			sequenceLetters === ABSOLUTE_LETTERS
				? writeSequence(at, sequence)
				: write(at, sequence - leastSequence, sequenceLetters);
	}
	return scratch.toString("latin1", 0, at);
}

/** How many edges the text has; null for one that `packEdges` did not make. */
export function countOf(edges: string): number | null {
	const { length } = edges;
	if (length === 0) return 0;
	if (length < START) return null;
	const count = (length - START) / lettersOfEdge(edges);
	return Number.isInteger(count) ? count : null;
}

/** The id that an edge leads to. */
export function idAt(edges: string, edge: number): Id {
	const shardLetters = letter(edges, 0);
	const restLetters = letter(edges, 1);
	const at = START + edge * lettersOfEdge(edges);
	const shard = read(edges, LEAST_SHARD, 3) + read(edges, at, shardLetters);
	const rest =
		read(edges, LEAST_REST, 7) + read(edges, at + shardLetters, restLetters);
	const upper = Math.floor(rest / 2 ** 32);
	return joinId(shard * SHARD + upper, rest - upper * 2 ** 32);
}

export function sequenceAt(edges: string, edge: number): number {
	const letters = letter(edges, 2);
	const end = START + (edge + 1) * lettersOfEdge(edges);
	return letters === ABSOLUTE_LETTERS
		? readSequence(edges, end - letters)
		: readSequence(edges, LEAST_SEQUENCE) + read(edges, end - letters, letters);
}

/** The index of the edge that leads to an id; -1 if none does. */
export function indexOfId(edges: string, to: Id): number {
	const { length } = edges;
	if (length === 0 || !splitId(to, WORDS)) return -1;
	const shardLetters = letter(edges, 0);
	const restLetters = letter(edges, 1);
	const shard = shardIn(WORDS) - read(edges, LEAST_SHARD, 3);
	const rest = restIn(WORDS) - read(edges, LEAST_REST, 7);
	if (shard < 0 || shard >= 128 ** shardLetters) return -1;
	if (rest < 0 || rest >= 128 ** restLetters) return -1;
	const idLetters = write(write(0, shard, shardLetters), rest, restLetters);
	if (idLetters === 0) return 0;
	const all = lettersOfEdge(edges);
	// The last letters differ most.
	const last = scratch[idLetters - 1] as number;
	for (let at = START; at < length; at += all) {
		if (letter(edges, at + idLetters - 1) !== last) continue;
		if (startsThere(edges, at, idLetters - 1)) return (at - START) / all;
	}
	return -1;
}

/** Whether so many letters are those that were written last. */
function startsThere(edges: string, at: number, letters: number): boolean {
	for (let index = letters - 1; index >= 0; index--) {
		if (letter(edges, at + index) !== scratch[index]) return false;
	}
	return true;
}

function lettersOfEdge(edges: string): number {
	return letter(edges, 0) + letter(edges, 1) + letter(edges, 2);
}

function shardIn(words: Uint32Array): number {
	return Math.floor((words[0] as number) / SHARD);
}

/** Type and local id. */
function restIn(words: Uint32Array): number {
	return ((words[0] as number) % SHARD) * 2 ** 32 + (words[1] as number);
}

function leastOf(values: Float64Array, length: number): number {
	let least = values[0] as number;
	for (let at = 1; at < length; at++) {
		if ((values[at] as number) < least) least = values[at] as number;
	}
	return least;
}

function mostOf(values: Float64Array, length: number): number {
	let most = values[0] as number;
	for (let at = 1; at < length; at++) {
		if ((values[at] as number) > most) most = values[at] as number;
	}
	return most;
}

function lettersFor(value: number): number {
	let letters = 0;
	for (let left = value; left > 0; left = Math.floor(left / 128)) letters++;
	return letters;
}

/** Returns where it ends. */
function write(at: number, value: number, letters: number): number {
	let left = value;
	for (let to = at + letters - 1; to >= at; to--) {
		const rest = Math.floor(left / 128);
		scratch[to] = left - rest * 128;
		left = rest;
	}
	return at + letters;
}

/** In two halves, as it has 53 bits and a sign. */
function writeSequence(at: number, sequence: number): number {
	const high = Math.floor(sequence / BITS_28);
	return write(write(at, high + SIGN, 4), sequence - high * BITS_28, 4);
}

function read(from: string, at: number, letters: number): number {
	let value = 0;
	for (let index = at; index < at + letters; index++) {
		value = value * 128 + letter(from, index);
	}
	return value;
}

function readSequence(from: string, at: number): number {
	return (read(from, at, 4) - SIGN) * BITS_28 + read(from, at + 4, 4);
}

function letter(from: string, at: number): number {
	return from.charCodeAt(at);
}

function makeRoom(edges: number): void {
	shards = new Float64Array(edges);
	rests = new Float64Array(edges);
	sequences = new Float64Array(edges);
	scratch = Buffer.alloc(START + edges * MOST_LETTERS);
}

const LEAST_SHARD = 3;
const LEAST_REST = 6;
const LEAST_SEQUENCE = 13;
const START = 21;
const MOST_LETTERS = 18;
/** What a shard is above the last 46 bits of an id, in the upper of its two halves. */
const SHARD = 2 ** 14;
/** Sequences that are farther apart are written whole. */
const FARTHEST = 2 ** 49;
const ABSOLUTE_LETTERS = 8;
const BITS_28 = 2 ** 28;
/** Added to the upper part of a sequence, which may be negative. */
const SIGN = 2 ** 27;

// The parts of edges while they are packed, and letters. They grow to those of the longest head.
const WORDS = new Uint32Array(2);
let shards = new Float64Array(32);
let rests = new Float64Array(32);
let sequences = new Float64Array(32);
let scratch = Buffer.alloc(START + 32 * MOST_LETTERS);
