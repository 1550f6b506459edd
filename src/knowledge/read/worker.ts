/** The thread that reads a file of an attacker, or a long one: it may take all its time and memory, and is ended when it does. */
import { parentPort, workerData } from 'node:worker_threads';
import { assertReadable, type Extracted, Refused } from './extracted.ts';
import { readHtml } from './html.ts';
import { readMarkdown } from './markdown.ts';
import { readPdf } from './pdf.ts';

export type Task =
  | { readonly type: 'pdf'; readonly bytes: Uint8Array }
  | { readonly type: 'html' | 'markdown'; readonly text: string };

export type Outcome =
  | { readonly extracted: Extracted }
  | { readonly refused: { readonly code: Refused['code']; readonly message: string } };

async function outcomeOf(task: Task): Promise<Outcome> {
  try {
    const extracted = await read(task);
    assertReadable(extracted);
    return { extracted };
  } catch (error) {
    if (error instanceof Refused) return { refused: { code: error.code, message: error.message } };
    // what the parser says of a broken file may quote it
    return { refused: { code: 'unreadable_document', message: 'the document is broken' } };
  }
}

async function read(task: Task): Promise<Extracted> {
  if (task.type === 'pdf') return readPdf(task.bytes);
  return task.type === 'html' ? readHtml(task.text) : readMarkdown(task.text);
}

parentPort?.postMessage(await outcomeOf(workerData as Task));
