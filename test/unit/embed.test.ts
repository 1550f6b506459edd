import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import t from 'tap';
import type { Embedder, Embedding, TokenBits } from '../../src/embed/embedder.ts';
import { makeEmbedder } from '../../src/embed/index.ts';
import { gloss } from '../../src/embed/minilm/gloss/index.ts';
import { makeMiniLm, packagedWeights, pauseAfter, startWorker } from '../../src/embed/minilm/index.ts';
import { splitSpans } from '../../src/embed/minilm/split.ts';
import { lateScore } from '../../src/recall/late.ts';

const scratch = await mkdtemp(path.join(tmpdir(), 'xmemo-embed-'));
const local = await makeEmbedder({ kind: 'minilm', modelDir: scratch });
t.teardown(async () => {
  await local.close();
  await rm(scratch, { recursive: true });
});

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);
const one = async (embedder: Embedder, text: string) => (await embedder.embed([text], 'query'))[0]!;

async function similarity(embedder: Embedder, left: string, right: string): Promise<number> {
  const [a, b] = await embedder.embed([left, right], 'passage');
  return dot(a!.vector, b!.vector);
}

function hamming(a: Uint8Array, b: Uint8Array): number {
  let distance = 0;
  for (let i = 0; i < a.length; i++) for (let x = a[i]! ^ b[i]!; x > 0; x &= x - 1) distance++;
  return distance;
}

const tokensOf = ({ bits }: TokenBits) =>
  Array.from({ length: bits.length / 48 }, (_, i) => bits.subarray(48 * i, 48 * i + 48));

/** The mean over the query's tokens of the best estimated cosine. */
function lateInteraction(query: Embedding, passage: Embedding): number {
  const [asked, given] = [tokensOf(query.tokens!), tokensOf(passage.tokens!)];
  const best = asked.map((a) => Math.max(...given.map((b) => Math.cos((Math.PI * hamming(a, b)) / 384))));
  return best.reduce((sum, x) => sum + x, 0) / best.length;
}

t.test('the local model gives the similarities that are published for all-MiniLM-L6-v2', async (t) => {
  const published: [string, string, number][] = [
    ['A man is eating food.', 'A man is eating a piece of bread.', 0.7553],
    ['A man is riding a horse.', 'A man is riding a white horse on an enclosed ground.', 0.7369],
    ['A monkey is playing drums.', 'Someone in a gorilla costume is playing a set of drums.', 0.6433],
  ];
  for (const [left, right, expected] of published) {
    const found = await similarity(local, left, right);
    t.ok(Math.abs(found - expected) < 0.02, `${left} ${found.toFixed(4)} is near ${expected}`);
  }
  t.match(local, { id: 'minilm-l6-v2-int8@3', dimensions: 384, degraded: undefined });
  t.same(await readdir(scratch), [
    (await readdir(scratch)).find((name) => /^minilm-l6-v2-int8\.\w+\.onnx$/.test(name)),
  ]);
});

t.test('token bits cover the content words and rank a paraphrase above an unrelated text', async (t) => {
  const { vector, tokens } = await one(local, 'What is the unbelievableness of 😀 in カフェ?');
  t.ok(Math.abs(dot(vector, vector) - 1) < 1e-5);
  t.same(tokens!.pieces.slice(0, 2), ['unbelievable', 'ness']);
  t.same(tokens!.words.slice(0, 3), [3, 3, 7]);
  t.equal(tokens!.bits.length, tokens!.pieces.length * 48);
  t.same((await one(local, 'Who are you?')).tokens!.pieces, ['who', 'are', 'you', '?'], 'all, if none has content');
  t.equal((await one(local, '')).tokens!.bits.length, 0);

  const question = await one(local, 'When did Anna buy a new bicycle?');
  const paraphrase = await one(local, 'Anna purchased another bike in spring.');
  const unrelated = await one(local, 'The parliament rejected the tax reform.');
  t.ok(lateInteraction(question, paraphrase) > lateInteraction(question, unrelated) + 0.1);
  t.ok(lateInteraction(question, question) > 0.99);

  const long = await one(local, 'alpha beta gamma delta. '.repeat(100_000));
  t.ok(long.tokens!.pieces.length <= 254, 'a text beyond the window is cut');
});

t.test('late interaction is that of a naive reading, and what stands beside counts three quarters', (t) => {
  const token = fc.uint8Array({ minLength: 48, maxLength: 48 });
  const near = fc
    .tuple(token, fc.constantFrom(0, 1, 8, 40))
    .map(([bits, kept]) => bits.map((b, i) => (i < kept ? 0 : b)));
  const passage = fc.array(near, { maxLength: 5 }).map((tokens) => Buffer.concat(tokens));
  const cosine = (a: Uint8Array, b: Uint8Array) => Math.cos((Math.PI * hamming(a, b)) / 384);
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(
        fc.array(near, { minLength: 1, maxLength: 4 }),
        fc.array(fc.constantFrom(0, 0.5, 3), { minLength: 4, maxLength: 4 }),
        passage,
        fc.array(passage, { maxLength: 2 }),
        (asked, rarity, own, beside) => {
          const all = (bits: Uint8Array) => tokensOf({ bits, pieces: [], words: [] });
          const scored = asked.map((a, i) => {
            const best = Math.max(-1, ...all(own).map((b) => cosine(a, b)));
            const other = Math.max(-1, ...beside.flatMap((one) => all(one).map((b) => 0.75 * cosine(a, b))));
            return { weight: rarity[i]!, best, gain: Math.max(0, other - best) };
          });
          const total = scored.reduce((sum, { weight }) => sum + weight, 0);
          const mean = (of: 'best' | 'gain') =>
            total === 0 ? 0 : scored.reduce((sum, one) => sum + one.weight * one[of], 0) / total;
          const bits = new Uint32Array(Uint8Array.from(asked.flatMap((a) => [...a])).buffer);
          const weights = Float64Array.from(rarity.slice(0, asked.length));
          const found = lateScore({ tokens: bits, weights }, { own, beside });
          return Math.abs(found.own - mean('best')) < 1e-9 && Math.abs(found.beside - mean('gain')) < 1e-9;
        },
      ),
      { numRuns: Number(process.env.FC_RUNS ?? 200) },
    ),
  );
  t.end();
});

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const words = (text: string) => text.match(/[\p{L}\p{N}\p{M}]+|\S/gu)?.length ?? 0;
const visible = (text: string) => text.match(/\S/gu)?.length ?? 0;
const utf8 = (text: string) => Buffer.byteLength(text.replace(/\s/g, ''));
const odd = fc.constantFrom(
  ...[
    ' ',
    '  ',
    '\t',
    '\n',
    '\n\n',
    '\r\n',
    '\r',
    '. ',
    '? ',
    '!',
    '。',
    'word',
    'Sentence',
    '東京',
    'ひらがな',
    'ไทย',
    'ำ',
    'क्षि',
  ],
  ...[
    '👨‍👩‍👧‍👦',
    '👍🏽',
    '🇩🇪',
    '🇫🇷',
    '‼\u200d😀',
    'é',
    '\u0301',
    '\u200d',
    '\u0600',
    '\ufeff',
    '\u1100',
    '\u1161',
    '\u11a8',
    '\ud83d',
  ],
);
const wildText = fc
  .array(fc.oneof(odd, odd, fc.string({ unit: 'binary', maxLength: 8 })), { maxLength: 60 })
  .map((parts) => parts.join(''));

t.test(
  'a split covers every visible character in order, within the limit, and cuts no cluster that fits',
  async (t) => {
    const property = fc.property(
      wildText,
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(words, visible, utf8),
      (text, limit, count) => {
        const spans = splitSpans(text, limit, count);
        let before = 0;
        for (const { start, end } of spans) {
          if (start < before || end <= start) return false;
          if (/\S/.test(text.slice(before, start))) return false;
          before = end;
          const part = text.slice(start, end);
          if (count(part) > limit && [...part].length > 1) return false;
        }
        if (/\S/.test(text.slice(before))) return false;
        const cuts = new Set(spans.flatMap(({ start, end }) => [start, end]));
        return [...graphemes.segment(text)].every(({ segment, index }) => {
          const isCut = Array.from({ length: segment.length - 1 }, (_, i) => index + i + 1).some((offset) =>
            cuts.has(offset),
          );
          return !isCut || count(segment) > limit || segment.length > 16 * limit;
        });
      },
    );
    t.doesNotThrow(() => fc.assert(property, { numRuns: 3_000 }));
    t.same(splitSpans('', 5, words), []);
    t.same(splitSpans(' \n\n ', 5, words), []);
  },
);

t.test('other languages are glossed for the local model', async (t) => {
  await t.test('Chinese', async (t) => {
    t.equal(gloss('我们 use Postgres'), 'we use Postgres');
    t.equal(gloss('會議'), gloss('会议'), 'both ways to write it');
    t.equal(gloss('数据库的密码'), 'database password', 'without words of grammar');
    t.equal(gloss('目的'), 'purpose', 'whose signs are part of other words');
    t.equal(gloss('会议决定2015年发布'), 'meeting decide 2015 year release');
    t.equal(gloss('𪚥𪚥'), '𪚥 𪚥', 'what no entry has stays');
    t.equal(gloss('东京'), 'Tokyo');
  });
  await t.test('Japanese: endings and particles go, unknown names stay whole', async (t) => {
    t.equal(gloss('猫は魚を食べる'), 'cat fish eat');
    t.match(gloss('データベースのパスワード'), /^database password$/);
    t.match(gloss('齉龘さんの猫'), /^齉龘 .*cat$/);
  });
  await t.test('Korean: without what is written onto a word', async (t) => {
    t.equal(gloss('정부는 학교에'), 'government school');
    t.equal(gloss('학교에서'), gloss('학교'));
    t.equal(
      gloss('Postgres는 어디에 쓰나요'),
      `Postgres ${gloss('어디')} ${gloss('쓰다')}`,
      'also onto Latin letters, and onto short verbs',
    );
    t.equal(gloss('정부가 했나요'), 'government');
    t.equal(gloss('뷁쉟은 Postgres'), '뷁쉟 Postgres', 'a name keeps what is no particle');
  });
  await t.test('German: endings, umlauts, verbs with another vowel, compounds', async (t) => {
    t.equal(gloss('Wann wurde die Datenbank gewechselt?'), 'when database change?');
    for (const form of ['entscheidet', 'entschied', 'entscheiden']) t.equal(gloss(`wer ${form}`), 'who decide', form);
    for (const form of ['findet', 'fand', 'finden']) t.equal(gloss(`wer ${form}`), 'who find', form);
    t.equal(gloss('die Häuser und die Bücher'), gloss('das Haus und das Buch'));
    t.equal(gloss('die Zugriffsrechte des Dienstes'), 'access right service');
    t.equal(gloss('Das ist nicht das Haus von Grafana'), 'not house Grafana', 'names stay');
  });
  await t.test('Spanish: plurals, genders, verbs', async (t) => {
    t.equal(gloss('¿Quién decidió cambiar la base de datos?'), '¿who decide change base data?');
    t.equal(gloss('las reuniones de los equipos'), gloss('la reunión del equipo'));
    for (const form of ['decide', 'decidió', 'decidieron']) t.equal(gloss(`lo que ${form}`), 'decide', form);
  });
  await t.test('what is English, of another language, or no language stays', async (t) => {
    const others = [
      'The meeting is on Friday',
      'kubectl rollout restart deployment/api',
      'Größe',
      'Nous utilisons la base de données pour la production de rapports',
      '',
      '👍',
    ];
    for (const other of others) t.equal(gloss(other), other);
  });
  await t.test('so that a question finds its answer in English', async (t) => {
    const answer = 'The database password is in the safe';
    const unrelated = 'The harvest dinner is on Friday';
    for (const question of [
      '我们的数据库的密码在哪里？',
      'データベースのパスワードはどこにありますか？',
      '데이터베이스 비밀번호는 어디에 있습니까?',
      'Wo ist das Passwort der Datenbank?',
      '¿Dónde está la contraseña de la base de datos?',
    ]) {
      const found = await similarity(local, question, answer);
      t.ok(found > 0.2 + (await similarity(local, question, unrelated)), `${question} ${found}`);
    }
  });
});

t.test('a split prefers the borders of paragraphs, then of sentences, then of words', async (t) => {
  const parts = (text: string, limit: number) =>
    splitSpans(text, limit, words).map(({ start, end }) => text.slice(start, end));
  t.same(parts('One two three four.\n\nFive six. Seven eight nine.', 10), [
    'One two three four.',
    'Five six. Seven eight nine.',
  ]);
  t.same(parts('One two. Three four five six seven.', 8), ['One two.', 'Three four five six seven.']);
  t.same(parts('one two three four five six', 4), ['one two three four', 'five six']);
  t.same(parts('A title\n\none two three four five six seven eight', 6), [
    'A title\n\none two three four',
    'five six seven eight',
  ]);
});

t.test('half a megabyte of anything is split in about a second', async (t) => {
  const bytes = 512 * 1024;
  const texts = {
    prose: 'The quick brown fox jumps over the lazy dog, and then he went home to sleep. ',
    'words without a full stop': 'the quick brown fox jumps over the lazy dog ',
    letters: 'a',
    'full stops': 'a.',
    emoji: '👨‍👩‍👧',
    'Chinese without punctuation': '今天天气很好我们去公园散步吧',
    'combining marks': '\u0301',
    'zero-width spaces': '\u200b',
  };
  for (const [name, unit] of Object.entries(texts)) {
    const text = unit.repeat(bytes / Buffer.byteLength(unit));
    const start = performance.now();
    const spans = await local.split(text, '[2024-05-08] Anna: ');
    // Ten times what it takes, because the machine is shared: this is to catch quadratic time, which takes minutes.
    t.ok(performance.now() - start < 15_000, `${name}: ${spans.length} spans`);
    t.ok(spans.length < 3_000 && spans.at(-1)!.end === text.trimEnd().length);
  }
  const letters = splitSpans('a'.repeat(100_000), 254, (text) => text.length);
  t.ok(letters.length < 450 && letters.every(({ start, end }) => end - start <= 254));
});

t.test('queries overtake a queue of passages', async (t) => {
  const passage = 'It was a long day and nobody remembered what had been said in the morning. '.repeat(20);
  const finished: string[] = [];
  const bulk = local.embed(Array(30).fill(passage), 'passage').then(() => finished.push('bulk'));
  const small = local.embed(['A small write.'], 'passage').then(() => finished.push('small'));
  await local.embed(['Who was it?'], 'query').then(() => finished.push('query'));
  await Promise.all([bulk, small]);
  t.same(finished.toSorted(), ['bulk', 'query', 'small']);
  t.equal(finished.at(-1), 'bulk', 'a small write does not wait for a bulk import either');
});

t.test('without its weights the local model is replaced by hashing, which says so without paths', async (t) => {
  const warnings: unknown[] = [];
  const log = { warn: (details: object, message: string) => void warnings.push([details, message]) };
  const empty = await mkdtemp(path.join(scratch, 'empty-'));
  const missing = await makeEmbedder({ kind: 'minilm', weightsDir: empty, dimensions: 256, log });
  t.match(missing, { id: 'hashing-256@1', degraded: /^Hashed words stand in .*: its tokenizer is missing\.$/ });
  t.notMatch(missing.degraded, empty);
  t.match(warnings, [[{ detail: /ENOENT/ }, missing.degraded]]);

  await writeFile(path.join(empty, 'tokenizer.json'), await readFile(path.join(packagedWeights(), 'tokenizer.json')));
  t.match(await makeEmbedder({ kind: 'minilm', weightsDir: empty }), { degraded: /its weights are missing/ });
  await writeFile(path.join(empty, 'model.fp16.safetensors'), 'something else');
  t.match(await makeEmbedder({ kind: 'minilm', weightsDir: empty }), { id: 'hashing-512@1', degraded: /sha256/ });
  await rm(empty, { recursive: true });
});

t.test('a folder that cannot be written and a damaged graph cost time only', async (t) => {
  const expected = await one(local, 'the same');
  const folder = await mkdtemp(path.join(scratch, 'damaged-'));
  const name = (await readdir(scratch)).find((entry) => entry.endsWith('.onnx'))!;
  await writeFile(path.join(folder, name), 'not a graph');
  for (const modelDir of ['/dev/null/models', folder]) {
    const embedder = await makeEmbedder({ kind: 'minilm', modelDir });
    t.equal(embedder.degraded, undefined);
    t.same(await one(embedder, 'the same'), expected);
    await embedder.close();
  }
  await rm(folder, { recursive: true });
});

t.test('hashing is deterministic, ranks shared words first, and takes its dimensions', async (t) => {
  for (const dimensions of [256, 512]) {
    const hashing = await makeEmbedder({ kind: 'hashing', dimensions });
    t.match(hashing, { id: `hashing-${dimensions}@1`, dimensions, degraded: undefined });
    const first = await one(hashing, 'Anna bought a bicycle');
    t.same(await one(hashing, 'Anna bought a bicycle'), first);
    t.same(await one(hashing, 'ＡＮＮＡ bought a bicycle'), first, 'letter case and width do not matter');
    t.equal(first.vector.length, dimensions);
    t.ok(Math.abs(dot(first.vector, first.vector) - 1) < 1e-5);
    const near = await similarity(hashing, 'Who bought bicycles?', 'Anna bought a bicycle');
    t.ok(near > (await similarity(hashing, 'Who bought bicycles?', 'The tax reform failed')) + 0.2);
    t.ok((await similarity(hashing, '東京へ行く', '昨日は東京に行った')) > 0.1);
    t.equal((await hashing.embed(Array(40).fill(''), 'passage')).length, 40);
    t.equal((await hashing.split('Hello there. '.repeat(200), 'Anna: ')).length, 2);
    await hashing.close();
  }
  t.equal((await makeEmbedder({ kind: 'hashing' })).dimensions, 512);
  await t.rejects(makeEmbedder({ kind: 'hashing', dimensions: 0 }), RangeError);
});

t.test('close() ends the worker and rejects what is pending', async (t) => {
  const embedder = await makeEmbedder({ kind: 'minilm', modelDir: scratch });
  const pending = t.rejects(embedder.embed(Array(1_000).fill('work'), 'passage'), /is closed/);
  await embedder.close();
  await pending;
  await t.rejects(embedder.split('text', ''), /is closed/);
  await embedder.close();
});

/** Gets ready and dies at its first order. Ending a thread that runs the native library would end the whole process now and then. */
const dying = () =>
  new Worker(
    `const { parentPort } = require('node:worker_threads');
     parentPort.postMessage({ type: 'ready' });
     parentPort.on('message', () => process.exit(1));`,
    { eval: true, execArgv: [] },
  );

t.test('a worker that dies is started again, each time, and says so meanwhile', async (t) => {
  const files = { weightsDir: packagedWeights(), modelDir: scratch };
  const starts = [dying, dying, startWorker];
  const mended = await makeMiniLm(
    files,
    (given) => starts.shift()!(given),
    (deaths) => (deaths === 1 ? 0 : 100),
  );
  t.equal(mended.failing, undefined);
  await t.rejects(mended.embed(['lost'], 'query'), /stopped while it was at work/);
  t.match(mended.failing, /words alone/);
  await t.rejects(mended.embed(['lost again'], 'query'), /stopped while it was at work/);
  await t.rejects(mended.embed(['too early'], 'query'), /in a while/);
  t.match(mended.failing, /words alone/);
  await sleep(150);
  t.equal((await mended.embed(['again'], 'query')).length, 1);
  t.equal(mended.failing, undefined);
  await mended.close();

  t.same([1, 2, 3, 4, 7, 20].map(pauseAfter), [0, 1_000, 2_000, 4_000, 30_000, 30_000]);
  const lost = await makeMiniLm(files, dying);
  await t.rejects(lost.embed(['lost'], 'query'), /stopped while it was at work/);
  await t.rejects(lost.embed(['again'], 'query'), /stopped while it was at work/);
  await lost.close();
  await t.rejects(lost.embed(['closed in the pause'], 'query'), /is closed/);
});
