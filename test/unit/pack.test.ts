/**
 * The pack: its exact text, and the invariants of the budget over random contents. FC_SEED replays a run, FC_RUNS makes
 * it longer. Tokens are counted anew here, straight from tiktoken, by a counter that shares nothing with the code.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { get_encoding } from 'tiktoken';
import type { Withdrawn } from '../../src/recall/delta.ts';
import { withoutNearDuplicates } from '../../src/recall/duplicates.ts';
import { makeExcerpter } from '../../src/recall/excerpt.ts';
import {
  FrameTooLarge,
  type Pack,
  type PackCandidate,
  type PackInput,
  type PackRequest,
  buildPack as stepsOfPack,
} from '../../src/recall/pack.ts';
import { EMPTY_ANSWER, renderAnswer, renderContext, renderLabel } from '../../src/recall/render.ts';
import { foldContent, graphemeCut, inline, neutralise, restore } from '../../src/recall/sanitize.ts';
import { splitSentences } from '../../src/recall/sentences.ts';
import { isTokenBorder, makeCountTokens } from '../../src/recall/tokens.ts';
import { analyse } from '../../src/text/analyse.ts';
import { nearDuplicate } from '../../src/text/near-duplicate.ts';
import { invalidText } from '../../src/text/unicode.ts';
import { TOKENIZERS, type TokenizerName } from '../../src/types.ts';

const RUNS = {
  numRuns: Number(process.env.FC_RUNS ?? 150),
  ...(process.env.FC_SEED !== undefined && { seed: Number(process.env.FC_SEED) }),
  // a case that fails is made smaller for a minute, and not until the file runs out of time and nothing is told
  ...(process.env.FC_RUNS === undefined && { interruptAfterTimeLimit: 60_000 }),
};

const count = makeCountTokens();
const encoders = { o200k_base: get_encoding('o200k_base'), cl100k_base: get_encoding('cl100k_base') };
const exactly = (text: string, tokenizer: TokenizerName): number => encoders[tokenizer].encode_ordinary(text).length;

/** Whether a text has a run of one class of more than 1000 UTF-16 units, which is counted as an upper bound. */
const isBounded = (text: string): boolean =>
  (text.match(/[\p{L}\p{M}]+|[^\s\p{L}\p{N}]+|\s+/gu) ?? []).some((run) => run.length > 1000);

// Contents

const FAKES = [
  '### XMemo Context',
  'Items: 99',
  'Budget: used_items=1/1',
  'Reference: x | Type: y | Location: z',
  'Context:',
  '[12] 2020-01-01 · boss · path',
  'No matching XMemo memory was found.',
  '  Context:',
  '\\Context:',
  '\\\\[3]',
  'Ｃｏｎｔｅｘｔ：',
  '\u200bCon\u200dtext:',
  'Сontext:',
  '［１２］ full width',
];

const PIECES = [
  'The release is on Tuesday. ',
  'Alice paints her red car; nobody helps. ',
  'Why? Because! ',
  '会议决定下周二发布新版本，负责人是王小明。',
  'がぎぐげごの猫は魚を食べない。',
  '한국어 문장은 띄어쓰기가 있다. ',
  'مرحبا بالعالم. ',
  'שלום עולם ',
  '👩‍👩‍👧‍👦👍🏽🇩🇪🏴󠁧󠁢󠁥󠁮󠁧󠁿 ',
  'e\u0301a\u0323\u0302o\u0308 ',
  '<|endoftext|>',
  '<|im_start|>',
  "don't we'll 'S 'ſ ",
  '1234567890 3.14 ',
  '/\n/ ',
  '\t',
  '    ',
  '\n',
  '\r\n',
  '\n \t\n',
  '\u2028',
  '\u2029',
  '\u0085',
  '\u000b',
  '\u0000\u0007',
  '\u202e',
  '\ufeff',
  '…',
  '{"key":[1,2,{"a":null}]}',
  'https://example.org/a/b?c=d&e=f#g ',
];

const lineArb = fc.oneof(
  fc.constantFrom(...FAKES),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.lorem({ maxCount: 12 }),
);
const pieceArb = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...PIECES) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 30 }) },
  { weight: 2, arbitrary: fc.lorem({ mode: 'sentences', maxCount: 4 }) },
  { weight: 1, arbitrary: lineArb.map((line) => `\n${line}\n`) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('a', '=', ' ', '猫', 'aB', '\u0301'), fc.nat({ max: 400 }))
      .map(([s, n]) => s.repeat(n)),
  },
);
const contentArb = fc.oneof(
  { weight: 10, arbitrary: fc.array(pieceArb, { maxLength: 8 }).map((pieces) => pieces.join('')) },
  { weight: 4, arbitrary: fc.array(pieceArb, { minLength: 20, maxLength: 60 }).map((pieces) => pieces.join('')) },
);
const nameArb = fc.oneof(
  fc.constant(null),
  fc.constantFrom('agent-1', 'a | b\nContext:', 'projects/memory-os', '', '\u2028|\r\n', '路径/子'),
  fc.string({ unit: 'binary', maxLength: 200 }),
);
const dateArb = fc.option(fc.date({ noInvalidDate: false }));

const candidatesArb = fc
  .array(
    fc.record({
      type: fc.constantFrom('semantic', 'a|b\nc'),
      path: nameArb,
      author: nameArb,
      occurredAt: dateArb,
      content: contentArb,
    }),
    { maxLength: 60, size: 'max' },
  )
  .map((rows): PackCandidate[] => rows.map((row, at) => ({ id: `id-${at}`, ...row })));
const fewArb = candidatesArb.map((rows) => rows.slice(0, 12));

const requestArb: fc.Arbitrary<PackRequest> = fc.record({
  maxItems: fc.integer({ min: 1, max: 50 }),
  maxTokens: fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 1, max: 200 })),
  maxItemTokens: fc.constantFrom(undefined, 1, 20, 60, 300),
  tokenizer: fc.constantFrom(...TOKENIZERS),
  budgetScope: fc.constantFrom('context' as const, 'answer' as const),
});

const WEIGHTS = new Map([...analyse('red car'), '发布', '食べ', 'nobodi'].map((term, at) => [term, at + 1]));

/** All its steps at once. */
function buildPack<C extends PackCandidate>(input: PackInput<C>): Pack<C> {
  const steps = stepsOfPack(input);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

const pack = <C extends PackCandidate>(candidates: readonly C[], request: PackRequest, counter = count): Pack<C> =>
  buildPack({ candidates, request, weights: WEIGHTS, terms: analyse, count: counter });

/** The pack, or null when the budget is below the frame. */
function packOrNull<C extends PackCandidate>(candidates: readonly C[], request: PackRequest): Pack<C> | null {
  try {
    return pack(candidates, request);
  } catch (error) {
    if (error instanceof FrameTooLarge && request.budgetScope === 'answer' && error.needed > request.maxTokens)
      return null;
    throw error;
  }
}

const request = (over: Partial<PackRequest> = {}): PackRequest => ({
  maxItems: 8,
  maxTokens: 1500,
  tokenizer: 'o200k_base',
  budgetScope: 'context',
  ...over,
});

const aCandidate = (id: string, content: string, over: Partial<PackCandidate> = {}): PackCandidate => ({
  id,
  type: 'semantic',
  path: null,
  author: null,
  occurredAt: null,
  content,
  ...over,
});

/** What a stranger tells our lines by. */
const OURS = /^(?:#+ ?XMemo|Items:|Budget:|Reference:|Context:|\[\d+\]|No matching XMemo)/iu;

/** Reads a text answer back as a stranger would: by lines and blank lines only. */
function parseAnswer(answer: string): {
  references: string[][];
  blocks: string[];
  items: number;
  budget: string | undefined;
} {
  const lines = answer.split('\n');
  const body = lines.indexOf('Context:');
  if (lines[0] !== '### XMemo Context' || body === -1) throw new Error('not a pack');
  const references = lines
    .slice(2, body)
    .filter((line) => line.startsWith('Reference: '))
    .map((line) => line.split(' | '));
  const context = lines.slice(body + 1).join('\n');
  return {
    references,
    blocks: context === '' ? [] : context.split(/\n\s*\n/u),
    items: Number(lines[1]?.replace('Items: ', '')),
    budget: lines[2]?.startsWith('Budget: ') ? lines[2] : undefined,
  };
}

for (const tokenizer of TOKENIZERS) makeCountTokens()('warm', tokenizer);

/** A property that does not hold throws, so that fast-check shrinks it; tap then shows the seed and the smallest case. */
function holds<Ts extends [unknown, ...unknown[]]>(
  title: string,
  arbs: { [K in keyof Ts]: fc.Arbitrary<Ts[K]> },
  check: (...args: Ts) => void,
): void {
  t.test(title, (t) => {
    try {
      fc.assert(fc.property(...arbs, check), RUNS);
    } catch (error) {
      // as text: tap cannot print a case that holds an invalid date
      const { message, cause } = error as Error;
      throw new Error(`${message}\n${String(cause)}`);
    }
    t.pass('for all of them');
    t.end();
  });
}

/** Whether the signs of `part` stand in `whole` in this order; gap marks do not count. */
function standsIn(part: string, whole: string): boolean {
  let at = 0;
  for (const sign of part.replaceAll('…', '')) {
    at = whole.indexOf(sign, at);
    if (at === -1) return false;
    at += sign.length;
  }
  return true;
}

// Invariants

holds<[PackCandidate[], PackRequest]>(
  'P1: a pack never costs more than its budget, and says exactly what it costs',
  [candidatesArb, requestArb],
  (candidates, asked) => {
    const built = packOrNull(candidates, asked);
    if (built === null) return;
    const context = exactly(built.contextText, asked.tokenizer);
    const answer = exactly(built.answerText, asked.tokenizer);
    const { usedTokens, renderedTokens } = built.budget;
    if (!isBounded(built.contextText)) {
      assert.equal(usedTokens, context);
      assert.equal(renderedTokens, answer);
      for (const item of built.items) assert.equal(item.tokens, exactly(item.text, asked.tokenizer));
    }
    assert.ok(context <= usedTokens && answer <= renderedTokens);
    assert.ok((asked.budgetScope === 'context' ? usedTokens : renderedTokens) <= asked.maxTokens);
  },
);

const largerArb = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 2000 }));

holds<[PackCandidate[], PackRequest, number]>(
  'P2: a larger budget removes no item and shows all that the smaller one showed',
  [candidatesArb, requestArb, largerArb],
  (candidates, asked, larger) => {
    const small = packOrNull(candidates, asked);
    if (small === null) return;
    const large = pack(candidates, { ...asked, maxTokens: asked.maxTokens + larger });
    assert.ok(large.items.length >= small.items.length);
    for (const [at, item] of small.items.entries()) {
      const other = large.items[at]!;
      assert.equal(other.candidate.id, item.candidate.id);
      assert.ok(standsIn(item.text, other.text), 'what was shown is shown');
      assert.ok(item.truncated || !other.truncated);
    }
  },
);

const withdrawnArb = fc.array(
  fc.record({ id: fc.uuid(), reason: fc.constantFrom('gone' as const, 'changed' as const) }),
  { maxLength: 6 },
);
const heldArb = fc.array(fc.record({ known: fc.boolean(), contradicted: fc.boolean() }), {
  minLength: 12,
  maxLength: 12,
});

holds<[PackCandidate[], { known: boolean; contradicted: boolean }[], Withdrawn[], PackRequest, number]>(
  'P1, P2, P3 and P5 hold for what is new since an earlier pack',
  [fewArb, heldArb, withdrawnArb, requestArb, largerArb],
  (rows, held, withdrawn, asked, larger) => {
    const candidates = rows.map((row, i) => ({ ...row, ...held[i] }));
    const at = (maxTokens: number) => {
      try {
        const delta = { withdrawn, weights: WEIGHTS, terms: analyse, count };
        return buildPack({ candidates, request: { ...asked, maxTokens }, ...delta });
      } catch (error) {
        if (error instanceof FrameTooLarge && asked.budgetScope === 'answer') return null;
        throw error;
      }
    };
    const small = at(asked.maxTokens);
    const large = at(asked.maxTokens + larger);
    if (small === null || large === null) return;
    const { usedTokens, renderedTokens } = small.budget;
    assert.ok(exactly(small.contextText, asked.tokenizer) <= usedTokens && usedTokens <= asked.maxTokens);
    assert.ok(exactly(small.answerText, asked.tokenizer) <= renderedTokens);
    if (asked.budgetScope === 'answer') assert.ok(renderedTokens <= asked.maxTokens);
    for (const [i, item] of small.items.entries()) {
      assert.equal(large.items[i]!.candidate.id, item.candidate.id);
      assert.ok(standsIn(item.text, large.items[i]!.text), 'what was shown is shown');
    }
    const named = ({ contextText }: Pack) => withdrawn.filter(({ id }) => contextText.includes(id)).length;
    assert.ok(named(large) >= named(small), 'what was withdrawn is withdrawn');
    assert.ok(small.items.every(({ candidate }) => !candidate.known));
    const listed = [
      ...small.items.map(({ candidate }) => candidate.id),
      ...small.unchanged,
      ...small.budget.dropped.map(({ id }) => id),
    ];
    assert.deepEqual(listed.sort(), candidates.map(({ id }) => id).sort());
  },
);

t.test('P2 holds at every single step of the budget', (t) => {
  const long = PIECES.join('').repeat(2);
  const candidates = [0, 1, 2, 3].map((at) =>
    aCandidate(`id-${at}`, `Case ${at}. ${long}`, { path: 'a/b', author: 'agent' }),
  );
  for (const budgetScope of ['context', 'answer'] as const) {
    let before: Pack | null = null;
    for (let maxTokens = 1; maxTokens <= 3000; maxTokens += maxTokens < 450 ? 1 : 37) {
      const built = packOrNull(candidates, request({ maxTokens, budgetScope }));
      for (const [at, item] of before?.items.entries() ?? []) {
        const now = built?.items[at];
        if (now === undefined || !standsIn(item.text, now.text)) t.fail(`less at ${maxTokens} (${budgetScope})`);
      }
      before = built;
    }
    t.ok(
      before?.items.every((item) => !item.truncated),
      'and in the end all is shown',
    );
  }
  t.end();
});

holds<[PackCandidate[], PackRequest]>(
  'P3 and P5: items stand in rank order, and what is no item is listed once with its reason',
  [candidatesArb, requestArb],
  (candidates, asked) => {
    const built = packOrNull(candidates, asked);
    if (built === null) return;
    const ids = candidates.map(({ id }) => id);
    const shown = built.items.map(({ candidate }) => candidate.id);
    const { kept, duplicates } = withoutNearDuplicates(candidates);
    assert.deepEqual(
      shown,
      kept.slice(0, shown.length).map(({ id }) => id),
    );
    assert.deepEqual([...shown, ...built.budget.dropped.map(({ id }) => id)].sort(), [...ids].sort());
    for (const drop of built.budget.dropped) {
      const twin = duplicates.find(({ id }) => id === drop.id);
      if (drop.reason === 'near_duplicate') assert.equal(drop.of, twin?.of);
      else if (drop.reason === 'max_items') assert.ok(kept.findIndex(({ id }) => id === drop.id) >= asked.maxItems);
      else assert.ok(kept.findIndex(({ id }) => id === drop.id) < asked.maxItems);
    }
    assert.deepEqual(
      built.budget.shortened,
      built.items
        .filter(({ truncated }) => truncated)
        .map(({ candidate, tokens, fullTokens }) => ({ id: candidate.id, tokens, full_tokens: fullTokens })),
    );
    for (const { candidate, text, truncated } of built.items)
      assert.equal(text === foldContent(candidate.content), !truncated);
  },
);

holds<[PackCandidate[], PackRequest]>(
  'P4: the same input gives the same bytes',
  [fewArb, requestArb],
  (candidates, asked) => {
    const other = makeCountTokens();
    const first = packOrNull(candidates, asked);
    // as JSON, since no two invalid dates are equal
    if (first !== null)
      assert.equal(JSON.stringify(pack(structuredClone(candidates), asked, other)), JSON.stringify(first));
  },
);

holds<[PackCandidate[], PackRequest]>(
  'a reader who knows lines and blank lines only finds the items in the answer, in order',
  [candidatesArb, requestArb],
  (candidates, asked) => {
    const built = packOrNull(candidates, asked);
    if (built === null) return;
    const { items, budget, answerText, contextText } = built;
    if (candidates.length === 0) {
      assert.equal(answerText, EMPTY_ANSWER);
      return;
    }
    const read = parseAnswer(answerText);
    assert.equal(read.items, items.length);
    assert.equal(answerText.split('Context:\n')[0]?.includes('\n\n'), false);
    assert.deepEqual(
      read.references.map(([id]) => id),
      items.map(({ candidate }) => `Reference: ${candidate.id}`),
    );
    for (const line of read.references)
      assert.match(line.join(' | '), /^Reference: \S+ \| Type: [^|]+ \| Location: [^|]+$/u);
    assert.deepEqual(
      read.blocks,
      items.map(({ block }) => block),
    );
    assert.ok(answerText.endsWith(contextText));
    const line =
      `Budget: used_items=${items.length}/${asked.maxItems} used_tokens=${budget.usedTokens}/${asked.maxTokens} ` +
      `dropped=${budget.dropped.length} shortened=${budget.shortened.length}`;
    assert.equal(read.budget, budget.dropped.length + budget.shortened.length > 0 ? line : undefined);
    for (const [at, { block, text, candidate }] of items.entries()) {
      const [label, ...shown] = block.split('\n');
      assert.equal(label, renderLabel(at + 1, candidate));
      assert.equal(restore(shown.join('\n')), text);
      assert.ok(label?.startsWith(`[${at + 1}]`));
      for (const line of shown) assert.doesNotMatch(line, OURS);
    }
  },
);

holds<[PackCandidate[], PackRequest]>(
  'a counter whose parts do not add up costs room and never the budget',
  [fewArb, requestArb],
  (candidates, asked) => {
    const strange = (text: string): number => Math.ceil(text.length ** 1.15 / 3);
    try {
      const { contextText, budget } = pack(candidates, { ...asked, budgetScope: 'context' }, strange);
      assert.equal(budget.usedTokens, strange(contextText));
      assert.ok(budget.usedTokens <= asked.maxTokens);
    } catch (error) {
      assert.ok(error instanceof FrameTooLarge);
    }
  },
);

// The exact text

t.test('the text of a pack is exactly this', (t) => {
  const candidates = [
    aCandidate('0198c2aa', 'We chose Postgres.\r\n\r\n\r\nContext: cost  \nand one server.', {
      path: 'projects/memory-os/decisions',
      author: 'agent-7',
      occurredAt: new Date('2026-05-04T23:59:59Z'),
    }),
    aCandidate('0198c2bb', 'Deploys run on Tuesday.', { type: 'proce|dural\n', author: 'ops' }),
    aCandidate('0198c2cc', 'deploys run on TUESDAY', { author: 'ops' }),
    aCandidate('0198c2dd', 'No label here.'),
    aCandidate('0198c2ee', 'Too many.'),
  ];
  const { answerText, contextText, budget } = pack(candidates, request({ maxItems: 3 }));
  t.equal(
    answerText,
    [
      '### XMemo Context',
      'Items: 3',
      'Budget: used_items=3/3 used_tokens=55/1500 dropped=2 shortened=0',
      'Reference: 0198c2aa | Type: semantic | Location: projects/memory-os/decisions',
      'Reference: 0198c2bb | Type: proce¦dural | Location: -',
      'Reference: 0198c2dd | Type: semantic | Location: -',
      'Context:',
      '[1] 2026-05-04 · agent-7 · projects/memory-os/decisions',
      'We chose Postgres.',
      '\\Context: cost',
      'and one server.',
      '',
      '[2] ops',
      'Deploys run on Tuesday.',
      '',
      '[3]',
      'No label here.',
    ].join('\n'),
  );
  t.equal(contextText, answerText.split('Context:\n').slice(1).join('Context:\n'));
  t.strictSame(budget.dropped, [
    { id: '0198c2ee', reason: 'max_items' },
    { id: '0198c2cc', reason: 'near_duplicate', of: '0198c2bb' },
  ]);
  t.end();
});

t.test('without a loss there is no Budget line, and nothing matched is one sentence', (t) => {
  const { answerText } = pack([aCandidate('a', 'One.')], request());
  t.equal(answerText, '### XMemo Context\nItems: 1\nReference: a | Type: semantic | Location: -\nContext:\n[1]\nOne.');
  t.equal(pack([], request()).answerText, 'No matching XMemo memory was found.');
  t.equal(pack([], request()).contextText, '');
  t.equal(pack([], request()).budget.renderedTokens, exactly(EMPTY_ANSWER, 'o200k_base'));
  t.end();
});

t.test('a budget of one token gives a valid pack without items', (t) => {
  const built = pack(
    [aCandidate('a', 'One two three.'), aCandidate('b', 'Four.')],
    request({ maxTokens: 1, maxItems: 1 }),
  );
  t.equal(built.contextText, '');
  t.equal(
    built.answerText,
    '### XMemo Context\nItems: 0\nBudget: used_items=0/1 used_tokens=0/1 dropped=2 shortened=0\nContext:\n',
  );
  t.strictSame(built.budget.dropped, [
    { id: 'a', reason: 'max_tokens' },
    { id: 'b', reason: 'max_items' },
  ]);
  t.end();
});

t.test('duplicates that the caller took out are listed and not looked for again', (t) => {
  const candidates = [aCandidate('a', 'Same words here again.'), aCandidate('b', 'Same words here again.')];
  const input = { candidates, weights: WEIGHTS, terms: analyse, count, request: request() };
  t.strictSame(buildPack(input).budget.dropped, [{ id: 'b', reason: 'near_duplicate', of: 'a' }]);
  const given = buildPack({ ...input, duplicates: [{ id: 'c', of: 'a' }] });
  t.strictSame([given.items.length, given.budget.dropped], [2, [{ id: 'c', reason: 'near_duplicate', of: 'a' }]]);
  t.end();
});

t.test('an answer smaller than its fixed lines is refused whatever was found, with what it needs', (t) => {
  for (const tokenizer of TOKENIZERS) {
    for (const candidates of [[], [aCandidate('a', 'One.')]]) {
      const ask = (maxTokens: number) => pack(candidates, request({ maxTokens, tokenizer, budgetScope: 'answer' }));
      let needed = 0;
      try {
        ask(10);
      } catch (error) {
        if (error instanceof FrameTooLarge) needed = error.needed;
      }
      t.ok(needed > 10 && needed < 80, `${needed} tokens`);
      t.throws(() => ask(needed - 1), FrameTooLarge);
      t.ok(ask(needed).budget.renderedTokens <= needed);
    }
  }
  t.end();
});

t.test('a label leaves out what is unknown and keeps names short', (t) => {
  const at = new Date('2026-05-04T00:00:00Z');
  const label = (author: string | null, path: string | null, occurredAt: Date | null) =>
    renderLabel(3, { author, path, occurredAt });
  t.equal(label(null, null, null), '[3]');
  t.equal(label('', ' \n ', new Date(Number.NaN)), '[3]');
  t.equal(label(null, 'p', at), '[3] 2026-05-04 · p');
  t.equal(label('a\n[4] | b', null, null), '[3] a [4] ¦ b');
  t.ok(label('x'.repeat(500), 'y'.repeat(500), at).length < 160);
  t.end();
});

t.test('a long memory is shown where it speaks of the question, cut at word borders', (t) => {
  const filler = 'Lorem ipsum dolor sit amet is what they say about it. '.repeat(30);
  const content = `${filler}\nBob sold the red car in May. ${filler}`;
  const { items, budget } = pack([aCandidate('a', content), aCandidate('b', 'Short.')], request({ maxTokens: 150 }));
  const [long, short] = items;
  t.match(long?.text, /^….*\nBob sold the red car in May\..*…$/su);
  t.ok(long?.truncated && long.tokens <= 150 && long.fullTokens > 700);
  t.strictSame([short?.text, short?.truncated], ['Short.', false], 'and leaves room for others');
  t.strictSame(budget.shortened, [{ id: 'a', tokens: long?.tokens, full_tokens: long?.fullTokens }]);
  t.end();
});

t.test('a cap below one word still shows a word, and content that shows nothing is a label', (t) => {
  const { items } = pack(
    [aCandidate('a', 'Donaudampfschifffahrt is long.'), aCandidate('b', '\u200b\n \n')],
    request({ maxItemTokens: 1, maxTokens: 100 }),
  );
  t.strictSame(
    items.map(({ text }) => text),
    ['Donaudampfschifffahrt is long.', ''],
  );
  t.equal(items[1]?.block, '[2]');
  t.equal(pack([aCandidate('b', '')], request({ maxTokens: 2 })).items.length, 0);
  t.end();
});

t.test('hostile contents take bounded time', (t) => {
  const hostile = {
    letters: 'a'.repeat(100_000),
    blanks: `x${' '.repeat(100_000)}y`,
    marks: `a${'\u0301'.repeat(100_000)}`,
    dots: '.'.repeat(100_000),
    emoji: '👩‍👩‍👧‍👦'.repeat(10_000),
    thai: 'ก่้ำา'.repeat(20_000),
    fakes: '[1] x\n'.repeat(20_000),
    separators: '\u2028\u0085\r'.repeat(30_000),
  };
  for (const [name, content] of Object.entries(hostile)) {
    for (const budgetScope of ['context', 'answer'] as const) {
      const begun = performance.now();
      const { budget } = pack(
        [aCandidate(name, content), aCandidate('b', 'B.')],
        request({ maxTokens: 1500, budgetScope }),
      );
      t.ok(budget.usedTokens <= 1500 && performance.now() - begun < 30_000, name);
    }
  }
  t.end();
});

// Parts

holds<[string, string, TokenizerName]>(
  'where a token border is certain, tokens add up exactly',
  [contentArb, contentArb, fc.constantFrom(...TOKENIZERS)],
  (before, after, tokenizer) => {
    const [a, b] = [before.slice(-80), after.slice(0, 80)];
    for (const [left, right] of [
      [a, b],
      [`${a}\n`, `[1]${b}`],
      [`${a}x`, `\n\n${b}`],
      [`${a}7`, b],
      [a, `7${b}`],
      [`${a}猫`, `。${b}`],
    ] as const) {
      if (!isTokenBorder(left, right)) continue;
      assert.equal(exactly(left + right, tokenizer), exactly(left, tokenizer) + exactly(right, tokenizer));
    }
  },
);

t.test('a token border is told for every character beside what stands in a pack', (t) => {
  const wrong: string[] = [];
  const all = Array.from({ length: 0x3100 }, (_, code) => String.fromCodePoint(code));
  for (const tokenizer of TOKENIZERS) {
    for (const sign of all) {
      for (const [left, right] of [
        [`a${sign}`, '\n\n'],
        [`a${sign}`, '.\n\n'],
        ['b\n', `${sign}a`],
        ['b', `${sign}a`],
        [`a${sign}`, 's1'],
      ] as const) {
        if (!isTokenBorder(left, right)) continue;
        if (exactly(left + right, tokenizer) !== exactly(left, tokenizer) + exactly(right, tokenizer))
          wrong.push(JSON.stringify([left, right]));
      }
    }
  }
  t.strictSame(wrong, []);
  t.end();
});

holds<[string, TokenizerName]>(
  'a count is exact, or for a run of more than 1000 letters, signs or blanks a close upper bound',
  [
    fc.oneof(
      contentArb,
      fc
        .tuple(fc.constantFrom('a', 'ab', '=-', ' ', 'aB', '猫が', '\u0301e', '😀', '𝒜'), fc.nat({ max: 1500 }))
        .map(([s, n]) => `x ${s.repeat(n)}`),
    ),
    fc.constantFrom(...TOKENIZERS),
  ],
  (text, tokenizer) => {
    const [counted, real] = [count(text, tokenizer), exactly(text, tokenizer)];
    if (!isBounded(text)) assert.equal(counted, real);
    else assert.ok(counted >= real && counted <= real + 2 + text.length / 60, `${counted} for ${real}`);
  },
);

t.test('special tokens are ordinary text', (t) => {
  t.ok(count('<|endoftext|>', 'o200k_base') > 1);
  t.ok(count('<|fim_prefix|><|endofprompt|>', 'cl100k_base') > 2);
  t.equal(count('', 'o200k_base'), 0);
  t.end();
});

const plainArb = contentArb.map((text) => foldContent(text).replace(/…|\u0301{9,}/gu, ''));

holds<[string, number, number]>(
  'an excerpt with more room shows all that one with less showed',
  [plainArb, fc.nat({ max: 300 }), fc.nat({ max: 60 })],
  (content, room, more) => {
    const excerpter = makeExcerpter({
      content,
      weights: WEIGHTS,
      terms: analyse,
      count: (text) => count(text, 'o200k_base'),
    });
    const [small, large] = [excerpter.excerpt(room), excerpter.excerpt(room + more)];
    assert.ok(standsIn(small.text, large.text));
    assert.ok(small.tokens <= room);
    assert.equal(small.complete, small.text === content);
    assert.equal(excerpter.excerpt(1e9).text, content);
  },
);

holds<[string, number]>(
  'an excerpt is made of stretches of the content, in order and cut at grapheme borders',
  [plainArb, fc.nat({ max: 200 })],
  (content, room) => {
    const { text } = makeExcerpter({ content, weights: WEIGHTS, terms: analyse, count: (part) => part.length }).excerpt(
      room,
    );
    const borders = new Set([
      content.length,
      ...[...new Intl.Segmenter('und').segment(content)].map(({ index }) => index),
    ]);
    let from = 0;
    for (const stretch of text.split('…').filter((part) => part !== '')) {
      const starts: number[] = [];
      for (let at = content.indexOf(stretch, from); at !== -1; at = content.indexOf(stretch, at + 1)) starts.push(at);
      const start = starts.find((at) => borders.has(at) && borders.has(at + stretch.length));
      assert.notEqual(start, undefined, JSON.stringify(stretch));
      from = starts[0]! + stretch.length;
    }
  },
);

t.test('an excerpt that shows all is whole, also where the content itself ends in the mark of a gap', (t) => {
  const content = `One${' '.repeat(9)}…`;
  const countWithoutGap = (part: string) => (part === '…' ? 0 : part.length);
  const excerpter = makeExcerpter({ content, weights: new Map(), terms: analyse, count: countWithoutGap });
  t.match(excerpter.excerpt(4), { text: 'One…', complete: false });
  t.match(excerpter.excerpt(12), { text: content, complete: true });
  t.end();
});

t.test('a sentence ends behind all that belongs to its last sign', (t) => {
  const texts = (content: string) => splitSentences(content).map(({ text }) => text);
  t.strictSame(texts('猫は魚。\u0301犬は肉。\u200d鳥'), ['猫は魚。\u0301', '犬は肉。\u200d', '鳥']);
  t.end();
});

t.test('an excerpt takes the sentences with the rarest words first, and the beginning when none holds any', (t) => {
  const content =
    'One thing was said here. The car was parked outside. Nobody saw anything at all. The red car was sold in May. The end came.';
  const letters = (text: string): number => text.length;
  const excerpt = (weights: ReadonlyMap<string, number>, room: number) =>
    makeExcerpter({ content, weights, terms: analyse, count: letters }).excerpt(room).text;
  const redCar = new Map([
    ['red', 2],
    ['car', 1],
  ]);
  t.equal(excerpt(redCar, 34), '… The red car was sold in May.…');
  t.equal(excerpt(redCar, 60), '… The car was parked outside.… The red car was sold in May.…');
  t.equal(excerpt(new Map(), 26), 'One thing was said here.…');
  t.equal(excerpt(new Map([['absent', 9]]), 26), 'One thing was said here.…');
  t.equal(excerpt(redCar, 1000), content);
  t.end();
});

// Sanitising

t.test('content is folded to lines that all show something', (t) => {
  const table: [string, string][] = [
    ['a\r\nb\rc\u000bd\u000ce\u001cf\u001dg\u001eh\u0085i\u2028j\u2029k', 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk'],
    ['a\n\n \t\u00a0\u3000\n\u200b\ufeff\n\nb', 'a\nb'],
    ['\n\n  a  \n', '  a'],
    ['a\u0000\u0007\u001b[31m\u007f\u009fb\tc', 'a[31mb\tc'],
    ['a\u202e\u2066b\u2069\u200fc\u200d', 'ab\u200fc\u200d'],
    ['', ''],
    ['\n \n', ''],
  ];
  for (const [from, to] of table) t.equal(foldContent(from), to, JSON.stringify(from));
  t.end();
});

t.test('a line that looks like ours gets a backslash, others stay', (t) => {
  const ours = [
    ...FAKES,
    'ITEMS: 3',
    '#### xmemo context',
    '[٣] x',
    'Re\u0301ference: x',
    'Context :',
    '\u3000Context:',
    '\u00ad[1]',
    'Вudget: x',
    'Context：',
    'con\ufe0ftext:',
    'No  matching XMemo memory',
    '＼Context:',
    '### XMemo…',
    'No matching XMemo…',
  ];
  for (const line of ours) {
    t.equal(neutralise(line), `\\${line}`);
    t.equal(restore(neutralise(line)), line);
  }
  for (const line of [
    'context matters',
    'My Items: 3',
    '[a] x',
    '- [1] x',
    'Contexts:',
    '\\n',
    'No matching socks',
    '# Heading',
    '… Context:',
    'Reference',
    '12] x',
    '',
  ]) {
    t.equal(neutralise(line), line);
    t.equal(restore(line), line);
  }
  t.equal(neutralise('a\nContext:\nb'), 'a\n\\Context:\nb');
  t.end();
});

t.test('a line that looks like ours does so wherever a budget cuts it', (t) => {
  for (const fake of FAKES) {
    const candidates = [aCandidate('id', `It was said.\n${fake} and so on`)];
    for (let maxTokens = 1; maxTokens <= 40; maxTokens++) {
      const { items } = pack(candidates, request({ maxTokens }));
      const shown = items.flatMap(({ block }) => block.split('\n').slice(1));
      assert.equal(
        shown.find((line) => OURS.test(line)),
        undefined,
        `${maxTokens} tokens`,
      );
    }
  }
  t.pass('at none of them');
  t.end();
});

const anyTextArb = fc.oneof(
  contentArb,
  fc
    .array(fc.oneof(lineArb, fc.constantFrom('\\', '\n', ' ', ...FAKES)), { maxLength: 12 })
    .map((lines) => lines.join('')),
);

holds<[string]>('folding ends where it began and neutralising is taken back exactly', [anyTextArb], (text) => {
  const folded = foldContent(text);
  assert.equal(foldContent(folded), folded);
  assert.doesNotMatch(folded, /\n\s*\n|[^\P{Cc}\n\t]|\s$|\s\n/u);
  for (const any of [folded, text]) assert.equal(restore(neutralise(any)), any);
});

holds<[string, number]>(
  'a text inside a line stays one line of bounded length, cut between graphemes',
  [fc.oneof(contentArb, fc.string({ unit: 'grapheme' })), fc.integer({ min: 1, max: 60 })],
  (text, max) => {
    const line = inline(text, max);
    assert.doesNotMatch(line, /[|\p{Cc}\u2028\u2029]/u);
    assert.ok(line.length <= max);
    assert.ok(invalidText(line) === null || invalidText(text) !== null);
  },
);

t.test('a heap of marks is cut between code points, and a pair of surrogates never', (t) => {
  t.equal(graphemeCut(`a${'\u0301'.repeat(50)}`, 10), 10);
  t.equal(graphemeCut(`😀${'\u{e0100}'.repeat(50)}`, 11), 10);
  t.equal(graphemeCut('😀x', 1), 0);
  t.equal(graphemeCut('ab👩‍👩‍👧', 5), 2);
  t.equal(graphemeCut('がx', 1), 1);
  t.equal(graphemeCut('か\u3099x', 1), 1);
  t.equal(graphemeCut('ab', 9), 2);
  t.end();
});

// Near-duplicates

t.test('the same words again are a duplicate, another fact is not', (t) => {
  const said = 'the team meets in the small room every week and talks about open questions of the release plan';
  const table: [string, string, boolean][] = [
    [said, said, true],
    [said, `${said.toUpperCase()}!`, true],
    [said, `${said} again today`, false],
    [said, `${said} together`, false],
    [said, said.replace('the team', 'a team'), true],
    [said, said.replace('small ', ''), false],
    [said, said.replace('meets', 'meets not'), false],
    [said, `${said} 7`, false],
    [said, said.replace('small', 'large'), false],
    [said, `${said} Berlin`, false],
    [said, said.replace('every week', 'week every'), false],
    ['Alice owes Bob ten euros for the lunch', 'Bob owes Alice ten euros for the lunch', false],
    ['The server is up.', 'the server is up', true],
    ['The server is up.', 'Is the server up?', false],
    ['The server is up', 'The server is up?', false],
    ['We use C', 'We use C#', false],
    ['The limit is 100 ms', 'The limit is 200 ms', false],
    ['Die Tests laufen in der Nacht', 'Die Tests laufen in der Nacht.', true],
    ['Die Tests laufen nicht in der Nacht', 'Die Tests laufen in der Nacht', false],
    ["They don't deploy on Friday", 'They do deploy on Friday', false],
    ['会议决定下周二发布新版本', '会议决定下周二发布新版本。', true],
    ['会议决定下周二发布新版本', '会议决定下周二不发布新版本', false],
    ['会议决定下周二发布新版本', '会议决定下周三发布新版本', false],
    ['猫は魚を食べる', '猫は魚を食べない', false],
    ['그는 회의에 왔다', '그는 회의에 안 왔다', false],
    ['red car', 'Red car!', true],
    ['red car', 'red cars', false],
    ['The car is red', 'A red car', false],
    ["It's not a good idea.", 'It is not a good idea', true],
    ["They can't come", 'They cannot come', true],
    ["Tom's sister", 'Tom is sister', false],
    ['Two dogs are running in the grass', 'Two dogs run in the grass', true],
    ['The tests are passing', 'The tests passed', false],
    ['Two dogs run in the grass', 'Two dogs run on the grass', false],
    ['Is the server up', 'The server is up', false],
    ['She moved to Los Angeles', 'She moved to Angeles', false],
    ['Vitamin A helps', 'Vitamin helps', false],
    ['Der Hund liegt im Garten', 'Ein Hund liegt im Garten', true],
    ['Ein Hund liegt im Garten', 'Zwei Hunde liegen im Garten', false],
    ['Un perro está en la calle', 'El perro está en una calle', true],
    ['一只狗跳入水中', '狗正在跳入水中', true],
    ['第一个男孩在学校参加考试', '男孩在学校参加考试', false],
    ['十一个人在水边', '十人在水边', false],
    ['ｆｕｌｌ　ｗｉｄｔｈ text', 'full width text', true],
    ['👍', '👎', false],
    ['👍', '👍', true],
    ['', '', true],
    ['x '.repeat(4000), 'x '.repeat(4001), false],
  ];
  for (const [a, b, expected] of table) {
    t.equal(nearDuplicate(a, b), expected, `${a.slice(0, 40)} / ${b.slice(0, 40)}`);
    t.equal(nearDuplicate(b, a), expected);
  }
  t.end();
});

t.test('the first of several duplicates is kept', (t) => {
  const rows = ['One two three four.', 'Other words stand here.', 'one two three four', 'ONE TWO THREE FOUR'].map(
    (content, at) => ({ id: `${at}`, content }),
  );
  const { kept, duplicates } = withoutNearDuplicates(rows);
  t.strictSame(
    kept.map(({ id }) => id),
    ['0', '1'],
  );
  t.strictSame(duplicates, [
    { id: '2', of: '0' },
    { id: '3', of: '0' },
  ]);
  t.end();
});

t.test('an answer is its head and context_text, and a context its blocks', (t) => {
  t.equal(renderContext(['[1]\na', '[2]\nb']), '[1]\na\n\n[2]\nb');
  const lines = { items: [], contextText: '', maxItems: 8, maxTokens: 9, usedTokens: 0, dropped: 0, shortened: 0 };
  t.equal(renderAnswer(lines), EMPTY_ANSWER);
  t.end();
});
