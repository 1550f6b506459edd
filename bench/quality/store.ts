/** Brings the memories of a set into the service, as a client would. */
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { type Bench, parallel, progress } from '../client.ts';
import { groupBy, type Memory, readJsonl } from './data.ts';

/**
 * Owners side by side, the memories of one in their order. What was stored is noted in FOLDER/stored.jsonl and not stored again.
 * Returns evaluation id → memory id.
 */
export async function store(
  bench: Bench,
  set: string,
  folder: string,
  memories: readonly Memory[],
): Promise<Map<string, string>> {
  const file = path.join(folder, 'stored.jsonl');
  const ids = new Map(readJsonl<[string, string]>(file));
  const missing = memories.filter((memory) => !ids.has(memory.id));
  if (missing.length === 0) return ids;
  const tick = progress(`${set}: store`, missing.length);
  const begun = performance.now();
  let stored = 0;
  await parallel([...groupBy(missing, ({ owner }) => owner)], 4, async ([owner, own]) => {
    for (const memory of own) {
      const { body } = await bench.call(`${set}:${owner}`, '/remember', toBody(memory));
      ids.set(memory.id, String(body.id));
      appendFileSync(file, `${JSON.stringify([memory.id, body.id])}\n`);
      tick(++stored);
    }
  });
  const rate = Math.round((1_000 * stored) / (performance.now() - begun));
  console.error(`${set}: ${stored} memories stored, ${rate} a second`);
  return ids;
}

function toBody({ speaker, session, time, text, caption }: Memory): Record<string, unknown> {
  return {
    content: caption ? `${text} [shares ${caption}]` : text,
    ...(speaker !== undefined && { author: speaker }),
    ...(session !== undefined && { session_id: session }),
    ...(time !== undefined && { occurred_at: time }),
  };
}
