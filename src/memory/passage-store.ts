/** The statements of the vector arm: the passages of a memory. */
import type { Tx } from '../db/db.ts';
import { join, type Sql, sql, vector } from '../db/sql.ts';
import type { Embedding, Span } from '../embed/embedder.ts';

export interface PassageRow extends Span {
  readonly embedding: Embedding;
}

/**
 * Replaces the vectors of a memory, those of other models too: they are of an earlier text or of a model that is given up. None at all
 * marks the memory, so that it is embedded later. `termCount` is the number of its own terms.
 */
export async function writePassages(
  tx: Tx,
  space: number,
  seq: string,
  model: number,
  passages: readonly PassageRow[],
  termCount: number,
): Promise<void> {
  await deletePassages(tx, space, [seq]);
  await markEmbedded(tx, space, seq, passages.length === 0 ? 0 : model);
  if (passages.length === 0) return;
  const logLength = Math.log(2 + termCount);
  for (let from = 0; from < passages.length; from += PASSAGES_A_STATEMENT) {
    const rows = passages.slice(from, from + PASSAGES_A_STATEMENT).map((p, i) => {
      const { vector: v, tokens } = p.embedding;
      return sql`(${space}::int, ${model}::smallint, ${seq}::bigint, ${from + i}::int, ${p.start}::int, ${p.end}::int, ${logLength}::real,
        ${vector(v)}::halfvec, ${tokens ? Buffer.from(tokens.bits) : null}::bytea)`;
    });
    await tx.query(sql`
      insert into passages (space_id, model, seq, ordinal, start_at, end_at, log_length, embedding, token_bits) values ${join(rows, ', ')}`);
  }
}

/** Nine parameters a row; the protocol allows 65,535. */
const PASSAGES_A_STATEMENT = 500;

/** Takes memories out of the vector arm. */
export async function deletePassages(tx: Tx, space: number, seqs: readonly string[]): Promise<void> {
  // The models are named because the key leads with them: without, every passage of the space would be looked at.
  await tx.query(sql`
    delete from passages where space_id = ${space} and seq = any (${seqs}::bigint[]) and model = any (array(select id from embedding_models))`);
}

/** Keeps the vectors of a memory as those of its version `version`; call it before they are replaced. */
export async function keepPassages(tx: Tx, space: number, seq: string, version: number): Promise<void> {
  await tx.query(sql`
    insert into passage_versions (space_id, seq, version, ${KEPT})
    select space_id, seq, ${version}::int, ${KEPT} from passages
    where space_id = ${space} and seq = ${seq} and model = any (array(select id from embedding_models))`);
}

const KEPT: Sql = sql`model, ordinal, start_at, end_at, log_length, embedding, token_bits`;

/** `model` 0: without vectors, to be embedded later. */
export async function markEmbedded(tx: Tx, space: number, seq: string, model: number): Promise<void> {
  await tx.query(
    sql`update memories set embedded_by = ${model} where space_id = ${space} and seq = ${seq} and embedded_by <> ${model}`,
  );
}
