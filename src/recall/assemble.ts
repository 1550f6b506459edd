/** Puts the items of a pack together, at the lengths that they were given: its texts, and the account of its budget. */
import type { Draft, Shown } from './draft.ts';
import type { Dropped, Pack, PackCandidate, PackInput, PackItem } from './pack.ts';
import { type AnswerLines, EMPTY_ANSWER, renderAnswer, renderContext, renderHead } from './render.ts';

interface Parts<C> {
  readonly kept: readonly C[];
  readonly drafts: readonly Draft<C>[];
  readonly shown: readonly Shown[];
  readonly dropped: readonly Dropped[];
  readonly notice: string | undefined;
}

export function assemble<C extends PackCandidate>(
  { request, withdrawn, count }: PackInput<C>,
  { kept, drafts, shown, dropped, notice }: Parts<C>,
): Pack<C> {
  const { maxItems, maxTokens, tokenizer } = request;
  const items = shown.flatMap(({ text, block, tokens, truncated }, at): PackItem<C>[] => {
    const { candidate, fullTokens } = drafts[at]!;
    if (candidate.known) return [];
    return [{ candidate, text, block, tokens, fullTokens: truncated ? fullTokens() : tokens, truncated }];
  });
  const unchanged = kept.filter(({ known }) => known).map(({ id }) => id);
  const shortened = items
    .filter(({ truncated }) => truncated)
    .map(({ candidate, tokens, fullTokens }) => ({ id: candidate.id, tokens, full_tokens: fullTokens }));
  const contextText = renderContext([...items.map(({ block }) => block), ...(notice === undefined ? [] : [notice])]);
  const usedTokens = count(contextText, tokenizer);
  const answer: AnswerLines = {
    items: items.map(({ candidate }) => candidate),
    contextText,
    maxItems,
    maxTokens,
    usedTokens,
    dropped: dropped.length,
    shortened: shortened.length,
    unchanged: withdrawn && unchanged.length,
  };
  const answerText = renderAnswer(answer);
  // context_text begins with `[` after a line feed, so the lines before it are counted alone
  const renderedTokens =
    answerText === EMPTY_ANSWER ? count(EMPTY_ANSWER, tokenizer) : count(renderHead(answer), tokenizer) + usedTokens;
  const budget = {
    maxItems,
    maxTokens,
    usedItems: items.length,
    usedTokens,
    renderedTokens,
    tokenizer,
    dropped,
    shortened,
  };
  return { items, unchanged, contextText, answerText, budget };
}
