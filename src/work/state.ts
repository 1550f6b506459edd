/** The present state of a task: one memory a key, replaced by every update. */
import { invalid } from '../errors.ts';
import { assertContent } from '../http/fields.ts';
import type { RememberInput } from '../memory/remember.ts';
import { store, type Writing } from './items.ts';
import type { ItemRow } from './store.ts';

export interface StateInput extends Omit<RememberInput, 'content' | 'memoryType'> {
  readonly stateKey: string;
  readonly content: string | undefined;
  readonly currentTask: string | undefined;
  readonly nextAction: string | undefined;
  readonly blockedReason: string | undefined;
}

/** @throws ApiError validation_error when it says nothing */
export function updateState(writing: Writing, input: StateInput): Promise<ItemRow> {
  const { stateKey, content, currentTask, nextAction, blockedReason, metadata, ...rest } = input;
  const lines = [
    content?.trim(),
    currentTask && `Current task: ${currentTask}`,
    nextAction && `Next action: ${nextAction}`,
    blockedReason && `Blocked by: ${blockedReason}`,
  ].filter(Boolean);
  if (lines.length === 0)
    throw invalid('body', 'content', 'or one of current_task, next_action, blocked_reason must say something');
  const said = lines.join('\n');
  assertContent(said);
  const fields = {
    state_key: stateKey,
    ...(currentTask !== undefined && { current_task: currentTask }),
    ...(nextAction !== undefined && { next_action: nextAction }),
    ...(blockedReason !== undefined && { blocked_reason: blockedReason }),
  };
  return writeState(writing, stateKey, {
    ...rest,
    content: said,
    metadata: { ...metadata, ...fields },
  });
}

export function writeState(
  writing: Writing,
  stateKey: string,
  input: Omit<RememberInput, 'memoryType'>,
): Promise<ItemRow> {
  return store(
    writing,
    { ...input, path: input.path ?? 'work/state', memoryType: 'working', semanticKey: `state:${stateKey}` },
    { kind: 'state', stateKey },
  );
}
