/** The text profile of recall and search: reference line, content, attribution, one blank line between memories. */
import { EMPTY_ANSWER, renderReference } from './render.ts';
import { foldContent, neutralise } from './sanitize.ts';
import type { Result } from './schema.ts';

export function renderResults(results: readonly Result[]): string {
  if (results.length === 0) return EMPTY_ANSWER;
  return results.map(renderResult).join('\n\n');
}

function renderResult({ id, memory_type, path, content, agent_boundary }: Result): string {
  const lines = [renderReference({ id, type: memory_type, path }), neutralise(foldContent(content))];
  return [...lines, ...(agent_boundary === null ? [] : [`Attribution: ${agent_boundary}`])].join('\n');
}
