/**
 * Loads all-MiniLM-L6-v2 and runs it, one text a call: batches bring nothing on one thread and would hold the thread
 * longer. The graph is built once and kept as a file, since a session by path starts faster (0.2 against 0.7 s) and
 * takes half the memory.
 */
import { createHash, randomUUID } from 'node:crypto';
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import type { Embedding } from '../embedder.ts';
import { buildGraph, DIMENSIONS, GRAPH_REVISION } from './graph.ts';
import { readSafetensors } from './safetensors.ts';
import { signBits } from './signs.ts';
import { makeWordPieces, type WordPieces } from './tokenizer.ts';

const WEIGHTS_SHA256 = '6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d';
const WEIGHTS_FILE = 'model.fp16.safetensors';
const TOKENIZER_FILE = 'tokenizer.json';
const SESSION_OPTIONS: InferenceSession.SessionOptions = {
  executionProviders: ['cpu'],
  graphOptimizationLevel: 'all',
  // A second thread spins while it waits and made a busy machine slower.
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
};

type Runtime = typeof import('onnxruntime-node');

export interface ModelFiles {
  /** The folder with the weights and the tokenizer. */
  readonly weightsDir: string;
  /** Where the built graph is kept. Without it the graph is built in memory at every start. */
  readonly modelDir?: string;
}

export interface Model {
  readonly wordPieces: WordPieces;
  embed(text: string): Promise<Embedding>;
  close(): Promise<void>;
}

/** The message says why to an operator, without paths; the cause has the details for the log. */
export class ModelUnavailable extends Error {}

const because = (sentence: string) => (cause: unknown) => {
  throw new ModelUnavailable(sentence, { cause });
};

async function readWeights(weightsDir: string): Promise<Buffer> {
  const weights = await readFile(path.join(weightsDir, WEIGHTS_FILE)).catch(because('its weights are missing'));
  if (createHash('sha256').update(weights).digest('hex') !== WEIGHTS_SHA256) {
    throw new ModelUnavailable('its weights are not the expected ones (sha256 differs)');
  }
  return weights;
}

/** The name tells weights and graph apart, so that a new version never runs an old file. */
function cachedFile(modelDir: string): string {
  const hash = createHash('sha256').update(`${WEIGHTS_SHA256} ${GRAPH_REVISION}`).digest('hex').slice(0, 12);
  return path.join(modelDir, `minilm-l6-v2-int8.${hash}.onnx`);
}

/** Renamed into place, so that another process never reads half a file. */
async function keep(file: string, graph: Uint8Array): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(temporary, graph);
    await rename(temporary, file);
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw cause;
  }
}

const isReadable = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

async function makeSession(runtime: Runtime, { weightsDir, modelDir }: ModelFiles): Promise<InferenceSession> {
  const file = modelDir === undefined ? undefined : cachedFile(modelDir);
  if (file !== undefined && (await isReadable(file))) {
    // A damaged file is replaced below.
    const session = await runtime.InferenceSession.create(file, SESSION_OPTIONS).catch(() => undefined);
    if (session) return session;
  }
  const graph = buildGraph(readSafetensors(await readWeights(weightsDir)));
  const kept =
    file !== undefined &&
    (await keep(file, graph).then(
      () => true,
      () => false, // A folder that cannot be written costs a slower start, nothing else.
    ));
  return kept
    ? runtime.InferenceSession.create(file, SESSION_OPTIONS)
    : runtime.InferenceSession.create(graph, SESSION_OPTIONS);
}

export async function loadModel(files: ModelFiles): Promise<Model> {
  const runtime: Runtime = await import('onnxruntime-node').catch(
    because('its native library does not load on this machine'),
  );
  const definition = await readFile(path.join(files.weightsDir, TOKENIZER_FILE), 'utf8').catch(
    because('its tokenizer is missing'),
  );
  const wordPieces = makeWordPieces(JSON.parse(definition));
  const session = await makeSession(runtime, files);

  async function run(ids: readonly number[]): Promise<{ embedding: Float32Array; hidden: Float32Array }> {
    const shape = [1, ids.length];
    const integers = (values: BigInt64Array): Tensor => new runtime.Tensor('int64', values, shape);
    const outputs = await session.run({
      input_ids: integers(BigInt64Array.from(ids, BigInt)),
      attention_mask: integers(new BigInt64Array(ids.length).fill(1n)),
    });
    return { embedding: outputs.embedding!.data as Float32Array, hidden: outputs.h6!.data as Float32Array };
  }

  return {
    wordPieces,
    async embed(text) {
      const { ids, content } = wordPieces.encode(text);
      const { embedding, hidden } = await run(ids);
      const bits = signBits(hidden, content.positions, DIMENSIONS);
      return { vector: embedding.slice(), tokens: { pieces: content.pieces, words: content.words, bits } };
    },
    close: () => session.release(),
  };
}
