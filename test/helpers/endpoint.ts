/** A small server that speaks the embeddings API of OpenAI, with hashed words behind it; it can be told to misbehave. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeHashing } from '../../src/embed/hashing.ts';
import type { EndpointOptions } from '../../src/embed/openai.ts';

export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { model: string; input: string[]; dimensions?: number };
}

/** `squeezed`: all cosines lie between 0.7 and 1, as those of some models do. */
export type Behaviour =
  | 'well'
  | 'shuffled'
  | 'squeezed'
  | 'one-less'
  | 'one-twice'
  | 'narrow'
  | 'zero'
  | 'no-json'
  | 'hang'
  | { readonly status: number; readonly retryAfter?: string; readonly times?: number };

export interface Endpoint {
  readonly url: string;
  readonly asked: Asked[];
  behaviour: Behaviour;
  /** Runs before a request is answered. */
  before: (asked: Asked) => Promise<void>;
  close(): Promise<void>;
}

export const KEY = 'sk-never-to-be-seen';

/** The model is named `hash-DIMENSIONS`. */
export async function startEndpoint(): Promise<Endpoint> {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const asked = { path: request.url!, headers: request.headers, body: JSON.parse(text) };
    endpoint.asked.push(asked);
    await endpoint.before(asked);
    await answer(asked, response);
  });

  async function answer({ body }: Asked, response: ServerResponse): Promise<void> {
    const { behaviour } = endpoint;
    if (behaviour === 'hang') return;
    if (typeof behaviour === 'object') {
      const { status, retryAfter, times = Number.POSITIVE_INFINITY } = behaviour;
      endpoint.behaviour = times > 1 ? { ...behaviour, times: times - 1 } : 'well';
      response.writeHead(status, {
        'content-type': 'application/json',
        ...(retryAfter && { 'retry-after': retryAfter }),
      });
      response.end(JSON.stringify({ error: { message: `no, ${KEY}, not for ${body.input[0]}` } }));
      return;
    }
    if (behaviour === 'no-json') return void response.end(`<html>${body.input[0]}`);
    const dimensions = Number(body.model.split('-').at(-1));
    const squeezed = behaviour === 'squeezed';
    const hashing = makeHashing({ dimensions: squeezed ? dimensions - 1 : dimensions });
    const vectors = (await hashing.embed(body.input, 'passage')).map(({ vector }) => {
      if (squeezed) return [Math.sqrt(0.7), ...Array.from(vector, (value) => value * Math.sqrt(0.3))];
      return Array.from(vector, (value) => value * 3); // not of unit length, as with some servers
    });
    let data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
    if (behaviour === 'shuffled') data.reverse();
    if (behaviour === 'one-less') data = data.slice(1);
    if (behaviour === 'one-twice') data[0]!.index = data.length - 1;
    if (behaviour === 'narrow') data = data.map((entry) => ({ ...entry, embedding: entry.embedding.slice(1) }));
    if (behaviour === 'zero') data = data.map((entry) => ({ ...entry, embedding: entry.embedding.map(() => 0) }));
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ object: 'list', model: body.model, data, usage: { prompt_tokens: 1, total_tokens: 1 } }),
    );
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint: Endpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked: [],
    behaviour: 'well',
    before: async () => {},
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return endpoint;
}

export const optionsOf = (
  { url }: Pick<Endpoint, 'url'>,
  dimensions: number,
  other: Partial<EndpointOptions> = {},
): EndpointOptions => ({
  url,
  key: KEY,
  model: `hash-${dimensions}`,
  dimensions,
  sendDimensions: false,
  prefixes: { query: '', passage: '' },
  batch: 64,
  limits: { query: 2_000, passage: 3_000 },
  maxTokens: 512,
  ...other,
});
